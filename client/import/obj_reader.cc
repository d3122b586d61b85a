#include "client/import/obj_reader.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>
#include <tiny_obj_loader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <istream>
#include <limits>
#include <span>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "client/import/problems.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

template <class T>
bool IsNumber(absl::string_view word, T& value) {
  const char* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  return read.ec == std::errc() && read.ptr == end;
}

// Feeds tinyobjloader line by line. It reports no invalid line, reads non-numbers as 0, takes
// comments after a face for corners, and stores all group names. So it receives only points and
// faces, each validated first and without trailing text. Its callbacks, unlike its arrays, support
// faces of more than 255 corners.
class Reader : private std::streambuf {
 public:
  explicit Reader(absl::string_view text) : rest_(text) {
    absl::ConsumePrefix(&rest_, "\xEF\xBB\xBF");
  }

  absl::Status Read() {
    tinyobj::callback_t callbacks;
    callbacks.vertex_cb = [](void* self, float x, float y, float z, float) {
      static_cast<Reader*>(self)->AddVertex(x, y, z);
    };
    callbacks.index_cb = [](void* self, tinyobj::index_t* corners, int count) {
      static_cast<Reader*>(self)->AddFace({corners, static_cast<std::size_t>(count)});
    };
    std::istream stream(this);
    stream.exceptions(std::ios::badbit);  // else it takes bad_alloc for the end
    tinyobj::LoadObjWithCallback(stream, callbacks, this);
    SINEW_RETURN_IF_ERROR(status_);
    if (mesh_.positions.empty()) return absl::InvalidArgumentError("no vertex, need at least one");
    if (mesh_.face_sizes.empty()) return absl::InvalidArgumentError("no face, need at least one");
    return CheckLast();
  }

  ImportedScene Finish() {
    ImportedScene scene;
    mesh_.name = "mesh";
    mesh_.source_path = "all objects and groups";
    scene.rig.meters_per_unit = 0;
    scene.rig.up_axis = UpAxis::kUnspecified;
    scene.rig.meshes.push_back(std::move(mesh_));
    scene.statistics.format = "Wavefront";
    scene.statistics.meshes.push_back({.primitives = 1, .source_vertices = scene.rig.vertices()});
    AddRigProblems(scene);
    return scene;
  }

 private:
  absl::Status Wrong(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", number_, ": ", what));
  }

  // The next line; the end of the stream behind a wrong one.
  int_type underflow() override {
    if (rest_.empty() || !status_.ok()) return traits_type::eof();
    ++number_;
    const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
    absl::string_view line = rest_.substr(0, end);
    line = line.substr(0, line.find('#'));
    rest_.remove_prefix(end);
    if (!absl::ConsumePrefix(&rest_, "\r\n") && !rest_.empty()) rest_.remove_prefix(1);
    status_ = line.find('\0') < line.size()  // it would end here for the parser
                  ? Wrong("got a zero byte, need text")
                  : Keep(line);
    if (!status_.ok()) return traits_type::eof();
    line_.assign(line.data(), line.size());
    line_ += '\n';
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_.front());
  }

  // Cuts a line down to what is to be read. Words are taken one by one: a line may hold as many as
  // the file.
  absl::Status Keep(absl::string_view& line) const {
    const auto words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    auto word = words.begin();
    const absl::string_view keyword = word == words.end() ? "" : *word;
    if (keyword == "v") return KeepVertex(++word, words.end(), line);
    if (keyword == "f") return CheckFace(++word, words.end());
    line = {};
    return absl::OkStatus();
  }

  // A weight and a colour may follow x y z.
  template <class Word>
  absl::Status KeepVertex(Word word, Word end, absl::string_view& line) const {
    for (std::size_t c = 0; c < 3; ++c) {
      const absl::string_view text = word == end ? "" : *word;
      double value = 0;
      if (!IsNumber(text, value) || !(std::abs(value) <= std::numeric_limits<float>::max())) {
        return Wrong(absl::StrCat("got \"", text.substr(0, 40),
                                  "\", need x, y and z of a vertex, each of at most 3.4e38"));
      }
      if (c == 2) line = line.substr(0, text.data() + text.size() - line.data());
      ++word;
    }
    return absl::OkStatus();
  }

  // Corners are vertex/texture/normal, counted from 1, or back from the last vertex if negative.
  template <class Word>
  absl::Status CheckFace(Word word, Word end) const {
    std::size_t corners = 0;
    for (; word != end; ++word, ++corners) {
      const absl::string_view text = *word;
      std::int32_t index = 0;
      if (!IsNumber(text.substr(0, text.find('/')), index) || index == 0 ||
          index < -static_cast<std::int64_t>(mesh_.vertices()) ||
          std::ranges::count(text, '/') > 2) {
        return Wrong(absl::StrCat("got the corner \"", text.substr(0, 40),
                                  "\", need the number of a vertex"));
      }
    }
    if (corners >= 3) return absl::OkStatus();
    return Wrong(absl::StrCat("got a face of ", corners, " corners, need 3 or more"));
  }

  void AddVertex(float x, float y, float z) {
    mesh_.positions.insert(mesh_.positions.end(), {x, y, z});
    // It raises 10 to the power on its own: "0e999" is no number to it.
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) {
      status_ = Wrong("got x, y or z that cannot be computed");
    }
  }

  void AddFace(std::span<const tinyobj::index_t> corners) {
    for (const tinyobj::index_t& corner : corners) {
      const std::int64_t index = corner.vertex_index;
      const auto vertices = static_cast<std::int64_t>(mesh_.vertices());
      if (index > last_) {
        last_ = index;
        last_line_ = number_;
      }
      mesh_.face_vertices.push_back(
          static_cast<std::uint32_t>(index < 0 ? vertices + index : index - 1));
    }
    mesh_.face_sizes.push_back(static_cast<std::uint32_t>(corners.size()));
  }

  // Faces may precede their vertices.
  absl::Status CheckLast() {
    if (last_ <= static_cast<std::int64_t>(mesh_.vertices())) return absl::OkStatus();
    number_ = last_line_;
    return Wrong(absl::StrCat("got vertex ", last_, " in a face, the file has ", mesh_.vertices()));
  }

  absl::string_view rest_;  // what follows `line_`
  std::string line_;        // as fed
  std::size_t number_ = 0;  // of `line_`, from 1
  std::int64_t last_ = 0;   // largest number in a face
  std::size_t last_line_ = 0;
  absl::Status status_;
  Mesh mesh_;
};

}  // namespace

absl::StatusOr<ImportedScene> ReadObj(std::string_view text) {
  Reader reader({text.data(), text.size()});
  SINEW_RETURN_IF_ERROR(reader.Read());
  return reader.Finish();
}

}  // namespace sinew::client
