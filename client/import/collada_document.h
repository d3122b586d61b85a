// collada_document.h - the XML of a COLLADA file: elements by id, and the numbers of sources.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sinew::client {

// A parsed file. Elements are handles into it. Thread-safe.
class ColladaDocument {
 public:
  // kInvalidArgument: no XML; no COLLADA element at its top; a <skew>, on which Assimp gives up.
  static absl::StatusOr<ColladaDocument> Parse(const std::string& bytes);

  // The COLLADA element.
  pugi::xml_node root() const { return document_->child("COLLADA"); }

  // The first element with the id, in document order; empty if there is none. A <node> comes before
  // other elements: some exporters give a node and its mesh the same id.
  pugi::xml_node FindId(std::string_view id) const;
  // The element of a reference "#id"; empty if there is none, or the reference is to another file.
  pugi::xml_node Follow(std::string_view uri) const;
  // Finds children of `scope` first: some exporters repeat ids in every animation.
  pugi::xml_node Follow(std::string_view uri, pugi::xml_node scope) const;

  // The file without the elements of these names at its top.
  std::string TextWithout(std::span<const char* const> libraries) const;

 private:
  std::unique_ptr<pugi::xml_document> document_;
  std::unordered_map<std::string_view, pugi::xml_node> by_id_;  // keys point into the document
};

// What a <source> hands out: tuple k is array[offset + k * stride + columns[i]], i from 0 on.
struct ColladaAccessor {
  pugi::xml_node element, array;
  std::size_t count = 0, stride = 1, offset = 0;
  std::vector<std::size_t> columns;  // below `stride`
};

// Source: COLLADA 1.4.1, <accessor> and <param>: a param without name is left out, unless none has
// one; a matrix type takes as many numbers as it has.
// kInvalidArgument: no accessor, more values than the array has, or states as its count, of which
// Assimp reads no more.
absl::StatusOr<ColladaAccessor> ReadColladaAccessor(const ColladaDocument& document,
                                                    pugi::xml_node source);

// Tuples of numbers that a <source> hands out through its accessor.
struct ColladaNumbers {
  std::size_t count = 0, width = 0;
  std::vector<double> numbers;  // [count * width], finite
};

// kInvalidArgument: no accessor, more values than the array has, text that is no number.
absl::StatusOr<ColladaNumbers> ReadColladaNumbers(const ColladaDocument& document,
                                                  pugi::xml_node source);

// The words of a <source> with a Name_array or an IDREF_array.
absl::StatusOr<std::vector<std::string>> ReadColladaNames(const ColladaDocument& document,
                                                          pugi::xml_node source);

// The next element or text in document order, without recursion: files nest as deep as they like.
pugi::xml_node NextColladaElement(pugi::xml_node node);

// The elements called `name` in the libraries called `library`, by id. The last of an id counts, as
// in Assimp.
std::unordered_map<std::string_view, pugi::xml_node> ColladaElementsById(
    const ColladaDocument& document, const char* library, const char* name);

// The words in the text of an element.
std::vector<std::string> ColladaWords(pugi::xml_node element);

// The finite numbers in the text of an element. kInvalidArgument: something else is there.
absl::StatusOr<std::vector<double>> ParseColladaNumbers(pugi::xml_node element);

// The whole numbers in the text of an element. kInvalidArgument: something else is there.
absl::StatusOr<std::vector<std::int64_t>> ParseColladaIntegers(pugi::xml_node element);

// Replaces the text of an element. Elements in it stay.
void SetColladaText(pugi::xml_node element, const std::string& text);

// Text of the file for a message: at most 100 bytes.
std::string ShownText(std::string_view text);

}  // namespace sinew::client
