#include "client/import/collada_document.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::size_t kShownBytes = 100;

bool IsText(pugi::xml_node piece) {
  return piece.type() == pugi::node_pcdata || piece.type() == pugi::node_cdata;
}

// Comments cut text into pieces.
std::string TextOf(pugi::xml_node element) {
  std::string text;
  for (const pugi::xml_node piece : element.children()) {
    if (IsText(piece)) text += piece.value();
  }
  return text;
}

std::vector<absl::string_view> Words(absl::string_view text) {
  return absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

// A number of elements; `fallback` if the attribute is absent.
absl::StatusOr<std::uint32_t> ReadCount(pugi::xml_node element, const char* name,
                                        std::uint32_t fallback) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute) return fallback;
  std::uint32_t count = 0;
  if (absl::SimpleAtoi(attribute.value(), &count)) return count;
  return InvalidArgument(name, " '", ShownText(attribute.value()), "', need a number from 0 on");
}

// How many numbers a param stands for.
std::size_t ParamWidth(pugi::xml_node param) {
  const std::string_view type = param.attribute("type").value();
  return type == "float4x4" ? 16 : type == "float3x3" ? 9 : type == "float2x2" ? 4 : 1;
}

// Finds which numbers of a stride belong to its tuple, for an array of `words`.
absl::Status ReadColumns(std::size_t words, ColladaAccessor& accessor) {
  // Counts are below 2^32, so that their products fit.
  const std::size_t need = accessor.offset + accessor.count * accessor.stride;
  if (accessor.count == 0 || need > words) {
    return InvalidArgument("an array of ", CountedText(words, "value"), " for an accessor of ",
                           need);
  }
  const auto named = [](pugi::xml_node param) { return *param.attribute("name").value() != '\0'; };
  const auto params = accessor.element.children("param");
  const bool any_named = std::any_of(params.begin(), params.end(), named);
  std::size_t column = 0;
  for (const pugi::xml_node param : params) {
    const std::size_t width = ParamWidth(param);
    for (std::size_t i = 0; i < width; ++i, ++column) {
      if (!any_named || named(param)) accessor.columns.push_back(column);
    }
  }
  if (column > accessor.stride) {
    return InvalidArgument("stride ", accessor.stride, " for ", CountedText(column, "number"),
                           " of its params");
  }
  if (column == 0) {
    for (std::size_t i = 0; i < accessor.stride; ++i) accessor.columns.push_back(i);
  }
  return absl::OkStatus();
}

// Without its columns.
absl::StatusOr<ColladaAccessor> AccessorOf(const ColladaDocument& document, pugi::xml_node source) {
  const pugi::xml_node accessor = source.child("technique_common").child("accessor");
  if (!accessor) return InvalidArgument("no accessor");
  ColladaAccessor out{.element = accessor, .array = {}, .columns = {}};
  out.array = document.Follow(accessor.attribute("source").value(), source);
  if (!out.array) {
    return InvalidArgument("no array '", ShownText(accessor.attribute("source").value()), "'");
  }
  SINEW_ASSIGN_OR_RETURN(out.count, ReadCount(accessor, "count", 0));
  SINEW_ASSIGN_OR_RETURN(out.stride, ReadCount(accessor, "stride", 1));
  SINEW_ASSIGN_OR_RETURN(out.offset, ReadCount(accessor, "offset", 0));
  if (out.stride == 0) return InvalidArgument("stride 0, need at least 1");
  return out;
}

absl::StatusOr<ColladaNumbers> NumbersOf(const ColladaDocument& document, pugi::xml_node source) {
  SINEW_ASSIGN_OR_RETURN(ColladaAccessor accessor, AccessorOf(document, source));
  SINEW_ASSIGN_OR_RETURN(const std::vector<double> all, ParseColladaNumbers(accessor.array));
  SINEW_RETURN_IF_ERROR(ReadColumns(all.size(), accessor));
  ColladaNumbers out{.count = accessor.count, .width = accessor.columns.size(), .numbers = {}};
  for (std::size_t k = 0; k < accessor.count; ++k) {
    const double* tuple = all.data() + accessor.offset + k * accessor.stride;
    for (const std::size_t column : accessor.columns) out.numbers.push_back(tuple[column]);
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> NamesOf(const ColladaDocument& document,
                                                 pugi::xml_node source) {
  SINEW_ASSIGN_OR_RETURN(ColladaAccessor accessor, AccessorOf(document, source));
  const std::vector<std::string> all = ColladaWords(accessor.array);
  SINEW_RETURN_IF_ERROR(ReadColumns(all.size(), accessor));
  if (accessor.columns.size() != 1) {
    return InvalidArgument(accessor.columns.size(), " names in a tuple, need one");
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < accessor.count; ++k) {
    names.push_back(all[accessor.offset + k * accessor.stride + accessor.columns[0]]);
  }
  return names;
}

absl::StatusOr<ColladaAccessor> ForAssimp(const ColladaDocument& document, pugi::xml_node source) {
  SINEW_ASSIGN_OR_RETURN(ColladaAccessor accessor, AccessorOf(document, source));
  SINEW_ASSIGN_OR_RETURN(const std::size_t stated, ReadCount(accessor.array, "count", 0));
  const std::size_t words = Words(TextOf(accessor.array)).size();
  SINEW_RETURN_IF_ERROR(ReadColumns(std::min(stated, words), accessor));
  return accessor;
}

absl::Status WithId(pugi::xml_node source, const absl::Status& status) {
  return InvalidArgument("source '", ShownText(source.attribute("id").value()),
                         "': ", status.message());
}

}  // namespace

pugi::xml_node NextColladaElement(pugi::xml_node node) {
  if (const pugi::xml_node child = node.first_child()) return child;
  while (node && !node.next_sibling()) node = node.parent();
  return node.next_sibling();
}

std::unordered_map<std::string_view, pugi::xml_node> ColladaElementsById(
    const ColladaDocument& document, const char* library, const char* name) {
  std::unordered_map<std::string_view, pugi::xml_node> by_id;
  for (const pugi::xml_node each : document.root().children(library)) {
    for (const pugi::xml_node element : each.children(name)) {
      by_id[element.attribute("id").value()] = element;
    }
  }
  return by_id;
}

void SetColladaText(pugi::xml_node element, const std::string& text) {
  for (pugi::xml_node piece = element.first_child(); piece;) {
    const pugi::xml_node next = piece.next_sibling();
    if (IsText(piece)) element.remove_child(piece);
    piece = next;
  }
  element.prepend_child(pugi::node_pcdata).set_value(text.c_str());
}

std::vector<std::string> ColladaWords(pugi::xml_node element) {
  const std::string text = TextOf(element);
  const std::vector<absl::string_view> words = Words(text);
  return {words.begin(), words.end()};
}

std::string ShownText(std::string_view text) {
  return text.size() <= kShownBytes ? std::string(text)
                                    : absl::StrCat(AbslView(text.substr(0, kShownBytes)), "...");
}

absl::StatusOr<ColladaDocument> ColladaDocument::Parse(const std::string& bytes) {
  ColladaDocument out;
  out.document_ = std::make_unique<pugi::xml_document>();
  const pugi::xml_parse_result parsed = out.document_->load_buffer(bytes.data(), bytes.size());
  if (!parsed) {
    return InvalidArgument("byte ", parsed.offset, " of the XML: ", parsed.description());
  }
  if (!out.root()) return InvalidArgument("no COLLADA element at the top");
  for (pugi::xml_node node = out.root(); node; node = NextColladaElement(node)) {
    const std::string_view name = node.name();
    if (name == "skew") {
      return InvalidArgument("node '", ShownText(node.parent().attribute("id").value()),
                             "': <skew> is not supported, need matrix, translate, rotate or scale");
    }
    const pugi::xml_attribute id = node.attribute("id");
    if (!id) continue;
    pugi::xml_node& known = out.by_id_[id.value()];
    if (!known || (name == "node" && std::string_view(known.name()) != "node")) known = node;
  }
  return out;
}

pugi::xml_node ColladaDocument::FindId(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? pugi::xml_node() : found->second;
}

pugi::xml_node ColladaDocument::Follow(std::string_view uri) const {
  return uri.substr(0, 1) == "#" ? FindId(uri.substr(1)) : pugi::xml_node();
}

pugi::xml_node ColladaDocument::Follow(std::string_view uri, pugi::xml_node scope) const {
  const pugi::xml_node first = Follow(uri);
  if (!first || first.parent() == scope) return first;
  for (const pugi::xml_node child : scope.children()) {
    if (child.attribute("id").value() == uri.substr(1)) return child;
  }
  return first;
}

std::string ColladaDocument::TextWithout(std::span<const char* const> libraries) const {
  pugi::xml_document copy;
  copy.reset(*document_);
  pugi::xml_node root = copy.child("COLLADA");
  for (const char* library : libraries) {
    while (root.remove_child(library)) {
    }
  }
  std::ostringstream text;
  copy.save(text, "", pugi::format_raw);
  return std::move(text).str();
}

absl::StatusOr<std::vector<double>> ParseColladaNumbers(pugi::xml_node element) {
  const std::string text = TextOf(element);
  std::vector<double> numbers;
  for (const absl::string_view word : Words(text)) {
    double number = 0;
    if (!absl::SimpleAtod(word, &number) || !std::isfinite(number)) {
      return InvalidArgument("'", ShownText(StdView(word)), "' in <", element.name(),
                             ">, need finite numbers");
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::StatusOr<std::vector<std::int64_t>> ParseColladaIntegers(pugi::xml_node element) {
  const std::string text = TextOf(element);
  std::vector<std::int64_t> numbers;
  for (const absl::string_view word : Words(text)) {
    if (absl::SimpleAtoi(word, &numbers.emplace_back())) continue;
    return InvalidArgument("'", ShownText(StdView(word)), "' in <", element.name(),
                           ">, need whole numbers");
  }
  return numbers;
}

absl::StatusOr<ColladaAccessor> ReadColladaAccessor(const ColladaDocument& document,
                                                    pugi::xml_node source) {
  absl::StatusOr<ColladaAccessor> accessor = ForAssimp(document, source);
  return accessor.ok() ? std::move(accessor) : WithId(source, accessor.status());
}

absl::StatusOr<ColladaNumbers> ReadColladaNumbers(const ColladaDocument& document,
                                                  pugi::xml_node source) {
  absl::StatusOr<ColladaNumbers> numbers = NumbersOf(document, source);
  return numbers.ok() ? std::move(numbers) : WithId(source, numbers.status());
}

absl::StatusOr<std::vector<std::string>> ReadColladaNames(const ColladaDocument& document,
                                                          pugi::xml_node source) {
  absl::StatusOr<std::vector<std::string>> names = NamesOf(document, source);
  return names.ok() ? std::move(names) : WithId(source, names.status());
}

}  // namespace sinew::client
