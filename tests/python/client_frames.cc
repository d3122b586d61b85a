// client_frames.cc - writes a rig, poses and the frames the C++ client gets for them, for a script
// to compare with.
//
//   sinew_client_frames ADDRESS FOLDER DEFORMER COUNT [states|oct8|oct16|float32] [zstd]
//
// Files: rig.sinewrig, poses.f32 (COUNT x joints x 12), stream.f32 and unary.f32 (COUNT x vertices
// x 3), with `states` stream.u8 (COUNT x vertices), and with the others normals.f32: positions are
// then sent as q16 (float32 with float32), normals as named, and decoded. zstd: compressed.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/status.h"
#include "sinew/client.h"
#include "tests/integration/client/test_character.h"

namespace sinew::client {
namespace {

absl::Status Write(const std::string& path, const char* data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(data, static_cast<std::streamsize>(size));
  file.close();
  return file ? absl::OkStatus() : absl::UnknownError("cannot write " + path);
}

absl::Status Write(const std::string& path, const std::vector<float>& values) {
  return Write(path, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

absl::Status Append(const FrameView& view, std::vector<float>& frames) {
  const std::size_t start = frames.size();
  frames.resize(start + view.vertices() * 3);
  return view.CopyPositions(std::span(frames).subspan(start));
}

absl::Status AppendVertexStatus(const FrameView& view, std::string& frames) {
  std::vector<VertexStatus> vertex_status(view.vertices());
  const absl::Status status = view.CopyVertexStatus(vertex_status);
  frames.append(reinterpret_cast<const char*>(vertex_status.data()), vertex_status.size());
  return status;
}

absl::Status Run(const std::string& address, const std::string& folder, const std::string& deformer,
                 std::uint64_t count, const std::string& more, bool zstd) {
  const bool want_vertex_status = more == "states",
             want_normals = !more.empty() && more != "states";
  SINEW_ASSIGN_OR_RETURN(const std::string rig, EncodeRig(MakeTube(80, 40)));
  SINEW_RETURN_IF_ERROR(Write(folder + "/rig.sinewrig", rig.data(), rig.size()));
  SINEW_ASSIGN_OR_RETURN(const Client client, Client::Connect({.address = address}));
  SINEW_ASSIGN_OR_RETURN(const Character character, Character::Create(client, rig, deformer));
  StreamOptions options;
  if (want_vertex_status)
    options.output.attributes = {Attribute::kPositions, Attribute::kVertexStatus};
  if (zstd) options.output.compressions = {Compression::kZstd};
  if (want_normals) options.output.attributes = {Attribute::kPositions, Attribute::kNormals};
  if (more.starts_with("oct")) {
    options.output.encodings = {Encoding::kQ16};
    options.output.normal_encodings = {more == "oct8" ? Encoding::kOct8 : Encoding::kOct16};
  }
  SINEW_ASSIGN_OR_RETURN(Stream stream, character.OpenStream(options));
  std::string vertex_status;
  std::vector<float> poses, streamed, unary, normals;
  for (std::uint64_t frame = 1; frame <= count; ++frame) {
    const std::vector<float> pose = TubePose(frame);
    poses.insert(poses.end(), pose.begin(), pose.end());
    SINEW_RETURN_IF_ERROR(stream.Send({.joint_transforms = pose}).status());
    SINEW_ASSIGN_OR_RETURN(const auto item, stream.Next(absl::Seconds(60)));
    if (!item) return absl::InternalError("the stream ended early");
    SINEW_RETURN_IF_ERROR(Append(item->view, streamed));
    if (want_normals) {
      normals.resize(streamed.size());
      SINEW_RETURN_IF_ERROR(
          item->view.CopyNormals(std::span(normals).last(item->view.vertices() * 3)));
    }
    if (want_vertex_status) SINEW_RETURN_IF_ERROR(AppendVertexStatus(item->view, vertex_status));
    SINEW_ASSIGN_OR_RETURN(const FrameView view, character.Deform({}, {.joint_transforms = pose}));
    SINEW_RETURN_IF_ERROR(Append(view, unary));
  }
  SINEW_RETURN_IF_ERROR(Write(folder + "/poses.f32", poses));
  SINEW_RETURN_IF_ERROR(Write(folder + "/stream.f32", streamed));
  SINEW_RETURN_IF_ERROR(Write(folder + "/normals.f32", normals));
  SINEW_RETURN_IF_ERROR(Write(folder + "/stream.u8", vertex_status.data(), vertex_status.size()));
  return Write(folder + "/unary.f32", unary);
}

}  // namespace
}  // namespace sinew::client

int main(int argc, char** argv) {
  if (argc < 5 || argc > 7) {
    std::fprintf(stderr,
                 "usage: %s ADDRESS FOLDER DEFORMER COUNT [states|oct8|oct16|float32] [zstd]\n",
                 argv[0]);
    return 64;
  }
  const absl::Status status =
      sinew::client::Run(argv[1], argv[2], argv[3], std::strtoull(argv[4], nullptr, 10),
                         argc > 5 ? argv[5] : "", argc > 6);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 70;
}
