#include "client/import/collada_target.h"

#include <absl/status/statusor.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <deque>
#include <numeric>
#include <string>

#include "client/import/collada_nodes.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

bool IsNode(pugi::xml_node element) {
  return std::string_view(element.name()) == "node";
}

// The nearest element below with the sid. Nodes below count, what is in them does not: a joint
// without `rotateX` must not drive that of its child.
pugi::xml_node FindSid(pugi::xml_node element, std::string_view sid) {
  std::deque<pugi::xml_node> open = {element};
  for (; !open.empty(); open.pop_front()) {
    for (const pugi::xml_node child : open.front().children()) {
      if (child.attribute("sid") && child.attribute("sid").value() == sid) return child;
      if (!IsNode(child)) open.push_back(child);
    }
  }
  return {};
}

// Where the member of the last part of an address begins: at a dot or a bracket.
std::size_t MemberAt(std::string_view part) {
  const std::size_t bracket = part.find('(');
  return bracket != std::string_view::npos ? bracket : part.rfind('.');
}

// "(i)" or "(i)(j)".
std::vector<std::size_t> ParseIndices(std::string_view member) {
  std::vector<std::size_t> indices;
  while (!member.empty()) {
    const std::size_t end = member.find(')');
    std::uint32_t index = 0;
    if (member[0] != '(' || end == std::string_view::npos ||
        !absl::SimpleAtoi(AbslView(member.substr(1, end - 1)), &index)) {
      return {};
    }
    indices.push_back(index);
    member.remove_prefix(end + 1);
  }
  return indices;
}

absl::StatusOr<std::vector<std::size_t>> NumbersOf(ColladaTransformKind kind, std::size_t count,
                                                   std::string_view member) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  if (member.empty()) return all;
  const bool rotates = kind == ColladaTransformKind::kRotate;
  if (rotates || kind == ColladaTransformKind::kTranslate || kind == ColladaTransformKind::kScale) {
    if (member == ".X") return std::vector<std::size_t>{0};
    if (member == ".Y") return std::vector<std::size_t>{1};
    if (member == ".Z") return std::vector<std::size_t>{2};
    if (member == ".ANGLE" && rotates) return std::vector<std::size_t>{3};
  }
  const std::vector<std::size_t> indices = ParseIndices(member);
  const bool matrix = kind == ColladaTransformKind::kMatrix;
  if (matrix && indices.size() == 2 && indices[0] < 4 && indices[1] < 4) {
    return std::vector<std::size_t>{indices[1] * 4 + indices[0]};
  }
  if (!matrix && indices.size() == 1 && indices[0] < count) return indices;
  return InvalidArgument("no number '", ShownText(member), "', need ",
                         matrix    ? "(column)(row)"
                         : rotates ? ".X, .Y, .Z, .ANGLE or (index)"
                                   : ".X, .Y, .Z or (index)");
}

}  // namespace

ColladaTarget ResolveColladaTarget(const ColladaDocument& document, std::string_view address) {
  const std::vector<std::string> parts = absl::StrSplit(AbslView(address), '/');
  pugi::xml_node element = document.FindId(parts[0]);
  std::string_view member;
  ColladaTarget out;
  for (std::size_t i = 1; i < parts.size() && element; ++i) {
    const pugi::xml_node above = element;
    element = FindSid(above, parts[i]);
    const std::size_t split = i + 1 == parts.size() ? MemberAt(parts[i]) : std::string::npos;
    if (!element && split != std::string::npos) {  // sids may have dots of their own
      member = std::string_view(parts[i]).substr(split);
      element = FindSid(above, std::string_view(parts[i]).substr(0, split));
    }
    // Exporters animate a visibility that the node has in no element with a sid.
    if (element || !IsNode(above) || parts[i] == "visibility") continue;
    out.node = above;
    out.status =
        InvalidArgument("its node has no element with the sid '", ShownText(parts[i]), "'");
  }
  const std::optional<ColladaTransformKind> kind = ColladaTransformKindOf(element);
  if (parts.size() < 2 || !kind || !IsNode(element.parent())) return out;
  out.node = element.parent();
  for (pugi::xml_node before = element.previous_sibling(); before;
       before = before.previous_sibling()) {
    out.transform += ColladaTransformKindOf(before) ? 1 : 0;
  }
  absl::StatusOr<std::vector<std::size_t>> numbers =
      NumbersOf(*kind, ColladaNumberCount(*kind), member);
  out.status = numbers.status();
  if (numbers.ok()) out.numbers = *std::move(numbers);
  return out;
}

}  // namespace sinew::client
