#include "client/import/obj_reader.h"

#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

template <class T>
bool IsNumber(absl::string_view word, T& value) {
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  return read.ec == std::errc() && read.ptr == end;
}

// Takes words one by one: a line may hold as many as the file.
class Reader {
 public:
  absl::StatusOr<Mesh> Read(absl::string_view text) {
    absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
    while (!text.empty()) {
      ++number_;
      const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
      SINEW_RETURN_IF_ERROR(ReadLine(text.substr(0, end)));
      text.remove_prefix(end);
      if (!absl::ConsumePrefix(&text, "\r\n") && !text.empty()) text.remove_prefix(1);
    }
    if (mesh_.positions.empty()) return InvalidArgument("no vertex, need at least one");
    if (mesh_.face_sizes.empty()) return InvalidArgument("no face, need at least one");
    if (last_ <= mesh_.vertices()) return std::move(mesh_);
    number_ = last_line_;  // faces may precede their vertices
    return Wrong("got vertex ", last_, " in a face, the file has ", mesh_.vertices());
  }

 private:
  template <class... Parts>
  absl::Status Wrong(const Parts&... parts) const {
    return InvalidArgument("line ", number_, ": ", parts...);
  }

  absl::Status ReadLine(absl::string_view line) {
    line = line.substr(0, line.find('#'));
    if (absl::StrContains(line, '\0')) return Wrong("got a zero byte, need text");
    const auto words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    auto word = words.begin();
    if (word == words.end()) return absl::OkStatus();
    const absl::string_view keyword = *word++;
    if (keyword == "v") return ReadVertex(word, words.end());
    if (keyword == "f") return ReadFace(word, words.end());
    return absl::OkStatus();
  }

  // A weight and a colour may follow x y z.
  template <class Word>
  absl::Status ReadVertex(Word word, Word end) {
    for (std::size_t c = 0; c < 3; ++c) {
      const absl::string_view text = word == end ? "" : *word++;
      double value = 0;
      if (!IsNumber(text, value) || !(std::abs(value) <= std::numeric_limits<float>::max())) {
        return Wrong("got \"", text.substr(0, 40),
                     "\", need x, y and z of a vertex, each of at most 3.4e38");
      }
      mesh_.positions.push_back(static_cast<float>(value));
    }
    return absl::OkStatus();
  }

  // Corners are vertex/texture/normal, counted from 1, or back from the last vertex if negative.
  template <class Word>
  absl::Status ReadFace(Word word, Word end) {
    std::uint32_t corners = 0;
    for (; word != end; ++word, ++corners) {
      const absl::string_view text = *word;
      const auto vertices = static_cast<std::int64_t>(mesh_.vertices());
      std::int32_t index = 0;
      if (!IsNumber(text.substr(0, text.find('/')), index) || index == 0 || index < -vertices ||
          std::ranges::count(text, '/') > 2) {
        return Wrong("got the corner \"", text.substr(0, 40), "\", need the number of a vertex");
      }
      const auto vertex = static_cast<std::uint32_t>(index < 0 ? vertices + index : index - 1);
      mesh_.face_vertices.push_back(vertex);
      if (vertex < last_) continue;
      last_ = vertex + 1;
      last_line_ = number_;
    }
    if (corners < 3)
      return Wrong("got a face of ", CountedText(corners, "corner"), ", need 3 or more");
    mesh_.face_sizes.push_back(corners);
    return absl::OkStatus();
  }

  Mesh mesh_;
  std::size_t number_ = 0;                // of the line, from 1
  std::size_t last_ = 0, last_line_ = 0;  // largest number in a face, and where
};

}  // namespace

absl::StatusOr<ImportedScene> ReadObj(std::string_view text) {
  SINEW_ASSIGN_OR_RETURN(Mesh mesh, Reader().Read({text.data(), text.size()}));
  mesh.name = "mesh";
  mesh.source_path = "all objects and groups";
  ImportedScene scene;
  scene.rig.meters_per_unit = 0;
  scene.rig.up_axis = UpAxis::kUnspecified;
  scene.rig.meshes.push_back(std::move(mesh));
  scene.mesh_extras.emplace_back();
  scene.format = "Wavefront";
  return scene;
}

}  // namespace sinew::client
