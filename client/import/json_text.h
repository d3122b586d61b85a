// json_text.h - locates errors in JSON for people: line and column, duplicate keys.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::client {

// "line 3, column 14" of the byte that a parser stopped at, counted from 1 as parsers do; columns
// are characters of UTF-8. Offsets beyond the end count as the end.
std::string PlaceInText(std::string_view text, std::size_t byte);

// Follows a parser into objects and arrays and keeps the first key that an object has twice.
class KeyWatch {
 public:
  void Key(const std::string& name);
  void Value();  // one that is neither object nor array
  void Open(bool is_array);
  void Close();

  // Its path, as in muscles[1].width; empty: none.
  const std::string& twice() const { return twice_; }

 private:
  struct Level {
    bool is_array = false;
    std::size_t items = 0;  // of an array, begun so far
    std::string key{};      // of an object, the present one
    std::set<std::string> keys{};
  };

  std::string Path() const;

  std::vector<Level> levels_;
  std::string twice_;
};

}  // namespace sinew::client
