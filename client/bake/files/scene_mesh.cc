#include "client/bake/files/scene_mesh.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

absl::Status WrongLine(std::size_t number, const char* why) {
  return absl::DataLossError(absl::StrCat("rest mesh: line ", number, ": ", why));
}

// Reads one mesh after the other, as their faces come.
class RestReader {
 public:
  explicit RestReader(const Manifest& manifest) : manifest_(manifest) {}

  absl::Status Line(std::size_t number, absl::string_view line) {
    if (absl::ConsumePrefix(&line, "v ")) {
      ++points_;
    } else if (absl::ConsumePrefix(&line, "vt ")) {
      const std::vector<absl::string_view> values = absl::StrSplit(line, ' ');
      float u = 0, v = 0;
      if (values.size() != 2 || !absl::SimpleAtof(values[0], &u) ||
          !absl::SimpleAtof(values[1], &v)) {
        return WrongLine(number, "need two numbers");
      }
      uvs_.insert(uvs_.end(), {u, v});
    } else if (absl::StartsWith(line, "g ")) {
      const std::size_t mesh = scene_.meshes.size();
      if (mesh == manifest_.meshes.size())
        return WrongLine(number, "has more meshes than its manifest");
      const ManifestMesh& described = manifest_.meshes[mesh];
      scene_.meshes.push_back({.name = described.name,
                               .first_vertex = described.first_vertex,
                               .vertices = described.vertices,
                               .face_sizes = {},
                               .face_vertices = {}});
    } else if (absl::ConsumePrefix(&line, "f ")) {
      return Face(number, line);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CacheScene> Finish() {
    if (points_ != manifest_.vertices || scene_.meshes.size() != manifest_.meshes.size()) {
      return absl::DataLossError(absl::StrCat("rest mesh: has ", points_, " vertices in ",
                                              CountedText(scene_.meshes.size(), "mesh", "meshes"),
                                              ", the manifest says ", manifest_.vertices, " in ",
                                              manifest_.meshes.size()));
    }
    scene_.meters_per_unit = manifest_.meters_per_unit;
    scene_.up_axis = manifest_.up_axis;
    return std::move(scene_);
  }

 private:
  absl::Status Face(std::size_t number, absl::string_view line) {
    if (scene_.meshes.empty()) return WrongLine(number, "need a g before the first f");
    SceneMesh& mesh = scene_.meshes.back();
    std::uint32_t corners = 0;
    for (const absl::string_view corner : absl::StrSplit(line, ' ')) {
      const std::vector<absl::string_view> numbers = absl::StrSplit(corner, '/');
      std::uint64_t vertex = 0, uv = 0;
      if (!absl::SimpleAtoi(numbers[0], &vertex) || vertex <= mesh.first_vertex ||
          vertex > mesh.first_vertex + mesh.vertices) {
        return WrongLine(number, "need vertices of its mesh");
      }
      mesh.face_vertices.push_back(static_cast<std::uint32_t>(vertex - 1 - mesh.first_vertex));
      ++corners;
      if (numbers.size() < 2 || numbers[1].empty()) continue;  // "1" or "1//1"
      if (!absl::SimpleAtoi(numbers[1], &uv) || uv < 1 || uv > uvs_.size() / 2) {
        return WrongLine(number, "need texture coordinates that are there");
      }
      mesh.corner_uvs.insert(mesh.corner_uvs.end(), {uvs_[uv * 2 - 2], uvs_[uv * 2 - 1]});
    }
    if (corners < 3) return WrongLine(number, "need at least 3 corners");
    mesh.face_sizes.push_back(corners);
    return absl::OkStatus();
  }

  const Manifest& manifest_;
  CacheScene scene_;
  std::vector<float> uvs_;
  std::uint64_t points_ = 0;
};

}  // namespace

absl::StatusOr<CacheScene> ReadRestMesh(std::string_view obj, const Manifest& manifest) {
  RestReader reader(manifest);
  std::size_t number = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(obj.data(), obj.size()), '\n')) {
    SINEW_RETURN_IF_ERROR(reader.Line(++number, line));
  }
  return reader.Finish();
}

}  // namespace sinew::bake
