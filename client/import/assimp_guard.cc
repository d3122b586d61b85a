#include "client/import/assimp_guard.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/lib/codec/status_macros.h"

namespace sinew::client {
namespace {

constexpr std::size_t kMaxFbxDepth = 64, kMaxColladaDepth = 512;
constexpr std::size_t kFbxHeaderBytes = 27;
constexpr double kMaxInstances = 1e6;

// What is needed of an FBX file to see whether its models form a tree.
struct FbxLinks {
  std::unordered_set<std::int64_t> models;
  std::vector<std::pair<std::int64_t, std::int64_t>> child_parent;  // "OO" connections
};

absl::Status CheckModelTree(const FbxLinks& links) {
  std::unordered_map<std::int64_t, std::int64_t> parent;
  for (const auto& [child, above] : links.child_parent) {
    if (links.models.count(child) == 0 || links.models.count(above) == 0) continue;
    if (!parent.emplace(child, above).second && parent[child] != above) {
      return absl::InvalidArgumentError(
          absl::StrCat("FBX: model ", child, " has several parents, need one"));
    }
  }
  std::unordered_set<std::int64_t> sound;  // known to lead to a root
  for (const auto& link : parent) {
    std::vector<std::int64_t> walked;
    std::unordered_set<std::int64_t> on_walk;
    std::int64_t model = link.first;
    while (sound.count(model) == 0) {
      if (!on_walk.insert(model).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("FBX: model ", model, " hangs in a cycle of models, need a tree"));
      }
      walked.push_back(model);
      const auto above = parent.find(model);
      if (above == parent.end()) break;
      model = above->second;
    }
    sound.insert(walked.begin(), walked.end());
  }
  return absl::OkStatus();
}

// Reads little-endian numbers; positions are checked by the caller.
std::uint64_t Unsigned(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Property `L` (64-bit integer) at `at`, which moves behind it; false if there is none before
// `end`.
bool TakeId(const std::string& bytes, std::size_t& at, std::size_t end, std::int64_t& id) {
  if (end - at < 9 || bytes[at] != 'L') return false;
  id = static_cast<std::int64_t>(Unsigned(bytes, at + 1, 8));
  at += 9;
  return true;
}

// `C: "OO", child, parent` and `Model: id, ...` records.
void NoteBinaryRecord(const std::string& bytes, absl::string_view name, std::size_t at,
                      std::size_t end, FbxLinks& links) {
  std::int64_t first = 0, second = 0;
  if (name == "Model" && TakeId(bytes, at, end, first)) {
    links.models.insert(first);
  } else if (name == "C" && end - at >= 7 && bytes[at] == 'S' && Unsigned(bytes, at + 1, 4) == 2 &&
             bytes.compare(at + 5, 2, "OO") == 0) {
    at += 7;
    if (TakeId(bytes, at, end, first) && TakeId(bytes, at, end, second))
      links.child_parent.emplace_back(first, second);
  }
}

absl::Status ScanBinaryFbx(const std::string& bytes, FbxLinks& links) {
  if (bytes.size() < kFbxHeaderBytes)
    return absl::InvalidArgumentError("FBX: truncated in the header");
  const std::size_t width = Unsigned(bytes, 23, 4) >= 7500 ? 8 : 4;
  const std::size_t header = 3 * width + 1;
  std::vector<std::size_t> ends;  // of the records that enclose the position
  std::size_t at = kFbxHeaderBytes;
  while (true) {
    while (!ends.empty() && at >= ends.back()) ends.pop_back();
    if (bytes.size() - at < header) break;
    const std::uint64_t end = Unsigned(bytes, at, width),
                        properties = Unsigned(bytes, at + 2 * width, width);
    const std::size_t name_bytes = static_cast<unsigned char>(bytes[at + 3 * width]);
    if (end == 0) {
      if (ends.empty()) return absl::OkStatus();  // the footer follows
      at += header;
      continue;
    }
    const std::size_t limit = ends.empty() ? bytes.size() : ends.back();
    if (end > limit || end < at + header || end - at - header < name_bytes ||
        end - at - header - name_bytes < properties) {
      return absl::InvalidArgumentError(
          absl::StrCat("FBX: the record at byte ", at, " does not fit the file"));
    }
    const std::size_t first = at + header + name_bytes,
                      behind = first + static_cast<std::size_t>(properties);
    NoteBinaryRecord(bytes, absl::string_view(bytes).substr(at + header, name_bytes), first, behind,
                     links);
    if (behind < end) {
      ends.push_back(static_cast<std::size_t>(end));
      if (ends.size() > kMaxFbxDepth) {
        return absl::InvalidArgumentError(
            absl::StrCat("FBX: records nested deeper than ", kMaxFbxDepth));
      }
    }
    at = behind;
  }
  return absl::InvalidArgumentError("FBX: truncated, the last record is missing");
}

absl::Status ScanAsciiFbx(const std::string& bytes, FbxLinks& links) {
  std::size_t depth = 0;
  for (absl::string_view line : absl::StrSplit(bytes, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(line, ";")) continue;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      depth += c == '{' ? 1 : 0;
      depth -= c == '}' && depth > 0 ? 1 : 0;
      if (depth > kMaxFbxDepth) {
        return absl::InvalidArgumentError(
            absl::StrCat("FBX: records nested deeper than ", kMaxFbxDepth));
      }
    }
    std::int64_t first = 0, second = 0;
    if (absl::ConsumePrefix(&line, "Model:")) {
      const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(',', 1));
      if (absl::SimpleAtoi(parts[0], &first)) links.models.insert(first);
    } else if (absl::ConsumePrefix(&line, "C:")) {
      const std::vector<absl::string_view> parts = absl::StrSplit(line, ',');
      if (parts.size() >= 3 && absl::StripAsciiWhitespace(parts[0]) == "\"OO\"" &&
          absl::SimpleAtoi(parts[1], &first) && absl::SimpleAtoi(parts[2], &second)) {
        links.child_parent.emplace_back(first, second);
      }
    }
  }
  return absl::OkStatus();
}

// The value of an attribute inside a tag, or nothing.
absl::string_view Attribute(absl::string_view tag, absl::string_view name) {
  for (std::size_t at = tag.find(name); at != absl::string_view::npos;
       at = tag.find(name, at + 1)) {
    const bool separate = at > 0 && (tag[at - 1] == ' ' || tag[at - 1] == '\t' ||
                                     tag[at - 1] == '\n' || tag[at - 1] == '\r');
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(tag.substr(at + name.size()));
    if (!separate || !absl::ConsumePrefix(&rest, "=")) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return {};
    const std::size_t close = rest.find(rest[0], 1);
    return close == absl::string_view::npos ? absl::string_view() : rest.substr(1, close - 1);
  }
  return {};
}

// Whatever a tag counts takes at least a byte of the file each; Assimp would allocate what it is
// told.
absl::Status CheckCounts(absl::string_view tag, std::size_t file_bytes) {
  for (const char* name : {"count", "stride", "offset"}) {
    const absl::string_view value = Attribute(tag, name);
    std::uint64_t number = 0;
    if (value.empty() || (absl::SimpleAtoi(value, &number) && number <= file_bytes)) continue;
    return absl::InvalidArgumentError(absl::StrCat("COLLADA: ", name, "='", value.substr(0, 32),
                                                   "' in a file of ", file_bytes, " bytes"));
  }
  return absl::OkStatus();
}

// Assimp reads lists of indices without ever advancing over what is no digit, and so fills the
// memory.
absl::Status CheckIndices(absl::string_view element, absl::string_view content) {
  if (element != "p" && element != "v" && element != "vcount" && element != "h")
    return absl::OkStatus();
  char before = ' ';
  for (const char c : content) {
    const bool sign = c == '-' && absl::ascii_isspace(static_cast<unsigned char>(before));
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(c));
    if (!digit && !sign && (before == '-' || !absl::ascii_isspace(static_cast<unsigned char>(c)))) {
      return absl::InvalidArgumentError(
          absl::StrCat("COLLADA: <", element, "> holds '", std::string(1, c), "', need integers"));
    }
    before = c;
  }
  return absl::OkStatus();
}

// Which nodes a COLLADA file puts where: nesting and instances.
class ColladaGraph {
 public:
  absl::Status Scan(absl::string_view text) {
    std::vector<std::size_t> open;  // nodes around the position; 0 = other elements' place
    std::size_t depth = 0;
    for (std::size_t at = text.find('<'); at != absl::string_view::npos; at = text.find('<', at)) {
      if (absl::StartsWith(text.substr(at), "<!--")) {
        at = text.find("-->", at);
        if (at == absl::string_view::npos) break;
        continue;
      }
      const std::size_t close = text.find('>', at);
      if (close == absl::string_view::npos) break;
      const absl::string_view tag = text.substr(at + 1, close - at - 1);
      at = close;
      if (tag.empty() || tag[0] == '?' || tag[0] == '!') continue;
      if (tag[0] == '/') {
        depth -= depth > 0 ? 1 : 0;
        if (absl::StartsWith(tag, "/node") && !open.empty()) open.pop_back();
        continue;
      }
      SINEW_RETURN_IF_ERROR(CheckCounts(tag, text.size()));
      const bool empty = absl::EndsWith(tag, "/");
      const absl::string_view name =
          tag.substr(0, std::min(tag.find_first_of(" \t\r\n/"), tag.size()));
      const absl::string_view behind = text.substr(close + 1);
      SINEW_RETURN_IF_ERROR(
          CheckIndices(name, behind.substr(0, std::min(behind.find('<'), behind.size()))));
      Note(name, tag, empty, open);
      if (!empty && ++depth > kMaxColladaDepth) {
        return absl::InvalidArgumentError(
            absl::StrCat("COLLADA: elements nested deeper than ", kMaxColladaDepth));
      }
    }
    return CheckInstances();
  }

 private:
  void Note(absl::string_view name, absl::string_view tag, bool empty,
            std::vector<std::size_t>& open) {
    if (name == "node") {
      const std::size_t node = below_.size();
      below_.emplace_back();
      instances_.emplace_back();
      if (!open.empty()) below_[open.back()].push_back(node);
      by_id_.emplace(std::string(Attribute(tag, "id")), node);
      if (!empty) open.push_back(node);
    } else if (name == "instance_node" && !open.empty()) {
      instances_[open.back()].push_back(std::string(absl::StripPrefix(Attribute(tag, "url"), "#")));
    }
  }

  // Depth-first with an explicit stack: sizes of expanded subtrees, and cycles on the way.
  absl::Status CheckInstances() {
    for (std::size_t n = 0; n < below_.size(); ++n) {
      for (const std::string& id : instances_[n]) {
        if (const auto found = by_id_.find(id); found != by_id_.end())
          below_[n].push_back(found->second);
      }
    }
    std::vector<double> size(below_.size(), 0);  // 0 = not visited, -1 = open
    std::vector<std::pair<std::size_t, std::size_t>> stack;
    for (std::size_t root = 0; root < below_.size(); ++root) {
      if (size[root] == 0) stack.emplace_back(root, 0);
      while (!stack.empty()) {
        auto& [node, next] = stack.back();
        size[node] = -1;
        if (next < below_[node].size()) {
          const std::size_t child = below_[node][next++];
          if (size[child] < 0)
            return absl::InvalidArgumentError("COLLADA: a node instances itself, need a tree");
          if (size[child] == 0) stack.emplace_back(child, 0);
          continue;
        }
        double total = 1;
        for (const std::size_t child : below_[node]) total += size[child];
        if (total > kMaxInstances)
          return absl::InvalidArgumentError("COLLADA: more than a million node instances");
        size[node] = total;
        stack.pop_back();
      }
    }
    return absl::OkStatus();
  }

  std::vector<std::vector<std::size_t>> below_;
  std::vector<std::vector<std::string>> instances_;
  std::unordered_map<std::string, std::size_t> by_id_;
};

}  // namespace

absl::Status CheckFbxStructure(const std::string& bytes) {
  FbxLinks links;
  SINEW_RETURN_IF_ERROR(absl::StartsWith(bytes, "Kaydara FBX Binary") ? ScanBinaryFbx(bytes, links)
                                                                      : ScanAsciiFbx(bytes, links));
  return CheckModelTree(links);
}

absl::Status CheckColladaStructure(const std::string& bytes) {
  return ColladaGraph().Scan(bytes);
}

}  // namespace sinew::client
