#include "client/import/collada_mesh.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::array<std::string_view, 7> kPrimitives = {
    "lines", "linestrips", "polygons", "polylist", "triangles", "trifans", "tristrips"};
constexpr std::array<std::string_view, 9> kKnownSemantics = {
    "VERTEX",  "POSITION", "NORMAL",     "TEXCOORD",   "COLOR",
    "TANGENT", "BINORMAL", "TEXTANGENT", "TEXBINORMAL"};

template <std::size_t N>
bool IsOneOf(const std::array<std::string_view, N>& all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

std::string_view SemanticOf(pugi::xml_node input) {
  return input.attribute("semantic").value();
}

constexpr std::array kComponents = {"X", "Y", "Z"};

// How many numbers of its tuples are used.
std::size_t UsedNumbers(std::string_view semantic) {
  return semantic == "POSITION" ? 3 : semantic == "TEXCOORD" ? 2 : 0;
}

// Which component Assimp takes a param for.
std::optional<std::size_t> ComponentOf(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames = {"XRSU", "YGTV", "ZBP"};
  for (std::size_t c = 0; c < kNames.size() && name.size() == 1; ++c) {
    if (kNames[c].find(name) != std::string_view::npos) return c;
  }
  return std::nullopt;
}

// Whether the names of the params say what the first numbers are, each once.
bool NamesSayAll(pugi::xml_node accessor, std::size_t numbers) {
  std::array<std::size_t, 3> times{};
  for (const pugi::xml_node param : accessor.children("param")) {
    if (const auto component = ComponentOf(param.attribute("name").value())) ++times[*component];
  }
  return std::all_of(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(numbers),
                     [](std::size_t count) { return count == 1; });
}

absl::Status PrepareTuples(const ColladaDocument& document, pugi::xml_node source,
                           std::size_t numbers) {
  SINEW_ASSIGN_OR_RETURN(ColladaAccessor accessor, ReadColladaAccessor(document, source));
  if (accessor.columns.size() < numbers) {
    return InvalidArgument("source '", ShownText(source.attribute("id").value()), "': tuples of ",
                           CountedText(accessor.columns.size(), "number"), ", need ", numbers);
  }
  // Matrices have several numbers for one param.
  const auto params = accessor.element.children("param");
  const auto count = std::distance(params.begin(), params.end());
  if (count > 0 && accessor.columns.back() >= static_cast<std::size_t>(count)) {
    return InvalidArgument("source '", ShownText(source.attribute("id").value()),
                           "': need a param for each number");
  }
  if (NamesSayAll(accessor.element, numbers)) return absl::OkStatus();
  pugi::xml_node param = accessor.element.child("param");
  for (std::size_t column = 0, named = 0; named < numbers; ++column) {
    if (!param) param = accessor.element.append_child("param");
    pugi::xml_attribute name = param.attribute("name");
    if (!name) name = param.append_attribute("name");
    name.set_value(column == accessor.columns[named] ? kComponents[named++] : "");
    param = param.next_sibling("param");
  }
  for (; param; param = param.next_sibling("param")) param.attribute("name").set_value("");
  return absl::OkStatus();
}

absl::Status PrepareInputs(const ColladaDocument& document, pugi::xml_node element,
                           pugi::xml_node mesh) {
  for (const pugi::xml_node input : element.children("input")) {
    const std::size_t numbers = UsedNumbers(SemanticOf(input));
    if (numbers == 0) continue;
    SINEW_RETURN_IF_ERROR(
        PrepareTuples(document, document.Follow(input.attribute("source").value(), mesh), numbers));
  }
  return absl::OkStatus();
}

// The indices of a primitive, in which those of one corner follow each other.
struct CornerLayout {
  std::size_t stride = 1;
  std::vector<std::size_t> used;  // offsets of the indices that count
};

absl::StatusOr<CornerLayout> ReadLayout(pugi::xml_node primitive) {
  CornerLayout out;
  std::size_t known = 1;
  for (const pugi::xml_node input : primitive.children("input")) {
    const std::size_t offset = input.attribute("offset").as_uint();
    const std::string_view semantic = SemanticOf(input);
    out.stride = std::max(out.stride, offset + 1);
    if (IsOneOf(kKnownSemantics, semantic)) known = std::max(known, offset + 1);
    if (semantic == "VERTEX" || UsedNumbers(semantic) > 0) out.used.push_back(offset);
  }
  if (known == out.stride) return out;
  return InvalidArgument("<", primitive.name(),
                         "> has an input behind all others that is not read");
}

absl::Status CheckIndices(pugi::xml_node p, const CornerLayout& layout) {
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::int64_t> indices, ParseColladaIntegers(p));
  for (const std::size_t offset : layout.used) {
    for (std::size_t i = offset; i < indices.size(); i += layout.stride) {
      if (indices[i] >= 0) continue;
      return InvalidArgument("index ", i, " in <p> is ", indices[i], ", need 0 or more");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPrimitive(pugi::xml_node primitive) {
  SINEW_ASSIGN_OR_RETURN(const CornerLayout layout, ReadLayout(primitive));
  std::vector<pugi::xml_node> lists(primitive.children("p").begin(), primitive.children("p").end());
  for (const pugi::xml_node ph : primitive.children("ph")) {
    if (ph.child("h")) {
      return InvalidArgument("<", primitive.name(),
                             ">: a polygon has a hole, need polygons without; triangulate them");
    }
    lists.push_back(ph.child("p"));
  }
  for (const pugi::xml_node p : lists) SINEW_RETURN_IF_ERROR(CheckIndices(p, layout));
  std::uint32_t count = 0;
  const char* stated = primitive.attribute("count").value();
  const bool empty = std::ranges::all_of(lists, [](pugi::xml_node p) { return !p.first_child(); });
  if (empty || (absl::SimpleAtoi(stated, &count) && count > 0)) return absl::OkStatus();
  return InvalidArgument("<", primitive.name(), ">: count '", ShownText(stated),
                         "', need that of its primitives");
}

absl::Status PrepareMesh(const ColladaDocument& document, pugi::xml_node mesh) {
  SINEW_RETURN_IF_ERROR(PrepareInputs(document, mesh.child("vertices"), mesh));
  for (const pugi::xml_node child : mesh.children()) {
    if (!IsOneOf(kPrimitives, child.name())) continue;
    SINEW_RETURN_IF_ERROR(PrepareInputs(document, child, mesh));
    SINEW_RETURN_IF_ERROR(CheckPrimitive(child));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareColladaMeshes(ColladaDocument& document) {
  for (const pugi::xml_node library : document.root().children("library_geometries")) {
    for (const pugi::xml_node geometry : library.children("geometry")) {
      for (const pugi::xml_node mesh : geometry.children("mesh")) {
        const absl::Status status = PrepareMesh(document, mesh);
        if (status.ok()) continue;
        return InvalidArgument("geometry '", ShownText(geometry.attribute("id").value()),
                               "': ", status.message());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
