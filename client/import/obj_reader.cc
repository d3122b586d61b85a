#include "client/import/obj_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "client/cpp/status_macros.h"
#include "client/import/statistics.h"

namespace sinew::client {
namespace {

// The next word of a line, taken off it.
absl::string_view TakeWord(absl::string_view& line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  std::size_t end = 0;
  while (end < line.size() && !absl::ascii_isspace(static_cast<unsigned char>(line[end]))) ++end;
  const absl::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

template <class T>
bool ReadNumber(absl::string_view word, T& value) {
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  return read.ec == std::errc() && read.ptr == end;
}

class Reader {
 public:
  absl::Status Read(absl::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      SINEW_RETURN_IF_ERROR(ReadLine(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (mesh_.positions.empty()) return absl::InvalidArgumentError("no vertex, need at least one");
    if (mesh_.face_sizes.empty()) return absl::InvalidArgumentError("no face, need at least one");
    return CheckLast();
  }

  ImportedScene Finish(std::size_t bytes) {
    ImportedScene scene;
    mesh_.name = "mesh";
    mesh_.source_path = "all objects and groups";
    scene.rig.meters_per_unit = 0;
    scene.rig.up_axis = UpAxis::kUnspecified;
    scene.rig.meshes.push_back(std::move(mesh_));
    scene.statistics.format = "Wavefront";
    scene.statistics.file_bytes = bytes;
    MeshStatistics& statistics = scene.statistics.meshes.emplace_back();
    statistics.primitives = 1;
    statistics.source_vertices = scene.rig.vertices();
    CompleteStatistics(scene);
    return scene;
  }

 private:
  absl::Status Wrong(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
  }

  absl::Status ReadLine(absl::string_view line) {
    const absl::string_view keyword = TakeWord(line);
    if (keyword == "v") return ReadVertex(line);
    if (keyword == "f") return ReadFace(line);
    return absl::OkStatus();
  }

  // A weight and a colour may stand behind x y z.
  absl::Status ReadVertex(absl::string_view line) {
    for (int c = 0; c < 3; ++c) {
      const absl::string_view word = TakeWord(line);
      float value = 0;
      if (!ReadNumber(word, value) || !std::isfinite(value)) {
        return Wrong(absl::StrCat("got \"", word.substr(0, 40), "\", need x, y and z of a vertex"));
      }
      mesh_.positions.push_back(value);
    }
    return absl::OkStatus();
  }

  // Corners are vertex/texture/normal, counted from 1, or back from the last vertex if negative.
  absl::Status ReadFace(absl::string_view line) {
    std::uint32_t size = 0;
    for (absl::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
      if (word.front() == '#') break;
      const auto vertices = static_cast<std::int64_t>(mesh_.vertices());
      std::int64_t index = 0;
      const bool read = ReadNumber(word.substr(0, word.find('/')), index);
      if (read && index < 0) index += vertices + 1;
      if (!read || index < 1 || index > std::numeric_limits<std::uint32_t>::max()) {
        return Wrong(absl::StrCat("got the corner \"", word.substr(0, 40),
                                  "\", need the number of a vertex"));
      }
      if (index > last_) {
        last_ = index;
        last_line_ = line_;
      }
      mesh_.face_vertices.push_back(static_cast<std::uint32_t>(index - 1));
      ++size;
    }
    if (size < 3) return Wrong(absl::StrCat("got a face of ", size, " corners, need 3 or more"));
    mesh_.face_sizes.push_back(size);
    return absl::OkStatus();
  }

  // Faces may stand before their vertices.
  absl::Status CheckLast() {
    if (last_ <= static_cast<std::int64_t>(mesh_.vertices())) return absl::OkStatus();
    line_ = last_line_;
    return Wrong(absl::StrCat("got vertex ", last_, " in a face, the file has ", mesh_.vertices()));
  }

  std::size_t line_ = 0, last_line_ = 0;
  std::int64_t last_ = 0;  // largest number in a face
  Mesh mesh_;
};

}  // namespace

absl::StatusOr<ImportedScene> ReadObj(std::string_view text) {
  Reader reader;
  SINEW_RETURN_IF_ERROR(reader.Read({text.data(), text.size()}));
  return reader.Finish(text.size());
}

}  // namespace sinew::client
