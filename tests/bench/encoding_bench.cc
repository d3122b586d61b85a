// encoding_bench - bytes and times of the encodings of frames, over the clips of characters.
//
//   encoding_bench [FILE:CLIP...]    a glTF or FBX file and the number of its clip; "hand" is built
//   in
//
// Positions and normals by dqs at 30 frames/s; every frame goes through the
// server's buffers and messages and the client's parser in this process, on one thread. Times are
// medians, for 50,000 vertices: encoding from float32 to messages with checksums, decoding to
// float32.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "client/lib/stream/frame_assembler.h"
#include "client/models/models.h"
#include "core/base/aligned.h"
#include "core/deform/engine/encoding.h"
#include "server/frames/compression.h"
#include "server/process/server.h"
#include "sinew/client.h"
#include "sinew/import.h"

namespace sinew::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Row {
  const char* name;
  server::Output output;
};
const Row kRows[] = {
    {"float32", {.normals = true}},
    {"q16, oct16",
     {.normals = true, .encoding = Encoding::kQ16, .normal_encoding = Encoding::kOct16}},
    {"q16, oct8",
     {.normals = true, .encoding = Encoding::kQ16, .normal_encoding = Encoding::kOct8}},
};

struct Frame {
  AlignedVector<float> positions, normals;
  std::array<float, 6> bounds;
};

std::vector<Frame> FramesOf(const client::RigData& rig, const client::ClipData& clip) {
  server::Config config;
  config.network.listen = {"127.0.0.1:0"};
  config.network.http = "off";
  config.log.level = "error";
  const auto server = server::Server::Start(config).value();
  const auto client = client::Client::Connect({.address = server->addresses().front()}).value();
  const auto character = client::Character::Create(client, rig, "dqs").value();
  std::vector<Frame> frames;
  for (std::size_t k = 0; k < clip.frames; ++k) {
    const auto view =
        character
            .Deform({}, client::PoseOf(clip, k),
                    {.attributes = {client::Attribute::kPositions, client::Attribute::kNormals}})
            .value();
    Frame frame{AlignedVector<float>(PaddedFloats(view.vertices())),
                AlignedVector<float>(PaddedFloats(view.vertices())), view.bounds()};
    const std::size_t floats = view.vertices() * 3;
    (void)view.CopyPositions(std::span(frame.positions).first(floats));
    (void)view.CopyNormals(std::span(frame.normals).first(floats));
    frames.push_back(std::move(frame));
  }
  return frames;
}

server::OutgoingFrame Encoded(server::FramePool& pool, const Frame& from,
                              const server::Output& output, std::uint32_t vertices,
                              std::uint64_t number) {
  const Task task;
  server::OutgoingFrame frame(pool, output, vertices);
  frame.header.set_frame(number);
  if (output.encoding == Encoding::kQ16) {
    const Quantisation box = QuantisationOf(from.bounds);
    auto& sent = *frame.header.mutable_quantisation();
    sent.mutable_origin()->Add(box.origin.begin(), box.origin.end());
    sent.mutable_step()->Add(box.step.begin(), box.step.end());
    EncodePositions(from.positions, box, frame.positions(), task);
    EncodeNormals(from.normals, output.normal_encoding, frame.normals(), task);
  } else {
    std::memcpy(frame.positions().data(), from.positions.data(), frame.positions().size());
    std::memcpy(frame.normals().data(), from.normals.data(), frame.normals().size());
  }
  frame.Seal();
  return frame;
}

double MedianOf(std::vector<double>& values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void Measure(const char* character, const std::vector<Frame>& frames, std::uint32_t vertices,
             const Row& row, bool zstd) {
  server::Output output = row.output;
  output.zstd = zstd;
  const auto pool = server::FramePool::Create(1 << 28);
  server::Compressor compressor(*pool, true);
  client::FrameAssembler assembler(true, 1 << 28);
  std::vector<double> encode, decode;
  std::vector<float> out(std::size_t{vertices} * 3);
  std::uint64_t bytes = 0, number = 0;
  for (int round = 0; round < 5; ++round) {
    for (const Frame& from : frames) {
      const auto start = Clock::now();
      server::OutgoingFrame frame = Encoded(*pool, from, output, vertices, ++number);
      if (zstd) compressor.Compress(frame);
      server::Outbox outbox;
      bytes += frame.sent_bytes();
      outbox.Push(std::move(frame));
      std::vector<grpc::ByteBuffer> messages;
      while (!outbox.empty()) outbox.Next(0, messages.emplace_back());
      const auto sent = Clock::now();
      for (const grpc::ByteBuffer& message : messages) {
        auto reply = client::ParseReply<v1::StreamDeformResponse>(
                         client::MessageBytes::From(message).value())
                         .value();
        for (client::FrameChunk& chunk : reply.chunks) {
          const auto data = assembler.Add(std::move(chunk)).value();
          if (data == nullptr) continue;
          const client::FrameView view(data);
          if (!view.CopyPositions(out).ok() || !view.CopyNormals(out).ok()) std::abort();
        }
      }
      const double scale = 1e3 * 50'000 / vertices;
      encode.push_back(scale * std::chrono::duration<double>(sent - start).count());
      decode.push_back(scale * std::chrono::duration<double>(Clock::now() - sent).count());
    }
  }
  std::printf("%-24s  %-10s  %-11s  %14.1f  %9.2f  %9.2f\n", character, row.name,
              zstd ? "zstd" : "none",
              static_cast<double>(bytes) / static_cast<double>(encode.size()) / vertices,
              MedianOf(encode), MedianOf(decode));
}

}  // namespace
}  // namespace sinew::bench

int main(int argc, char** argv) {
  using namespace sinew;
  std::puts(
      "Positions and normals. Encode: from float32 to messages with checksums; decode: to float32. "
      "Times: for 50,000 vertices, one thread.");
  std::printf("%-24s  %-10s  %-11s  %14s  %9s  %9s\n", "clip", "encoding", "compression",
              "bytes a vertex", "encode ms", "decode ms");
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names = {"hand"};
  for (const std::string& name : names) {
    client::Model model;
    std::string label = name;
    if (name == "hand") {
      model = client::Make("hand").value();
      model.clip = client::Resampled(model.clip, model.rig, 30, {});
    } else {
      const std::size_t colon = name.rfind(':');
      const auto scene = client::ImportFile(name.substr(0, colon)).value();
      const std::size_t index = std::stoul(name.substr(colon + 1));
      model = {scene.rig, client::SampleClip(scene, index, {.fps = 30}).value()};
      label =
          name.substr(name.rfind('/') + 1, colon - name.rfind('/') - 1) + ", " + model.clip.name;
    }
    const std::vector<bench::Frame> frames = bench::FramesOf(model.rig, model.clip);
    std::size_t vertices = 0;
    for (const client::Mesh& mesh : model.rig.meshes) vertices += mesh.positions.size() / 3;
    for (const bench::Row& row : bench::kRows) {
      for (const bool zstd : {false, true}) {
        bench::Measure(label.c_str(), frames, static_cast<std::uint32_t>(vertices), row, zstd);
      }
    }
  }
}
