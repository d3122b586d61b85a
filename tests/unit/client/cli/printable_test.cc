#include "client/cli/base/printable.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

namespace sinew::cli {
namespace {

TEST(Printable, KeepsWellFormedText) {
  for (const char* text : {"", "hero.glb", "\u00fc\u4e2d", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, EscapesMalformedSequences) {
  const std::string_view rows[] = {
      "\xe0\x80\x80",      // overlong, three bytes
      "\xe0\x9f\xbf",      // overlong U+07FF
      "\xf0\x80\x80\x80",  // overlong, four bytes
      "\xf0\x8f\xbf\xbf",  // overlong U+FFFF
      "\xc0\x80",          // overlong NUL
      "\xed\xa0\x80",      // surrogate U+D800
      "\xed\xbf\xbf",      // surrogate U+DFFF
      "\xf4\x90\x80\x80",  // U+110000
      "\xf5\x80\x80\x80",  // no such lead byte
      "\xe4\xb8",          // truncated
      "\x80",              // lone continuation
  };
  for (const std::string_view row : rows) {
    std::string input = "a";
    input += row;
    input += 'b';
    std::string escaped = "a";
    for (const char c : row) {
      absl::StrAppend(&escaped, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
    EXPECT_EQ(Printable(input), escaped + "b");
  }
}

TEST(Printable, KeepsTextAfterMalformedSequences) {
  EXPECT_EQ(Printable("a\xff\xc3(b"), "a\\xff\\xc3(b");
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82") << "truncated at the end";
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(Printable("\x1b[31m\a\x7f\xc2\x9b"), "?[31m???");
  EXPECT_EQ(Printable("a\nb"), "a?b");
  EXPECT_EQ(Printable("a\nb\tc", /*lines=*/true), "a\nb?c");
}

TEST(Columns, CountsCodePoints) {
  EXPECT_EQ(Columns("h\u00fc\u4e2d"), 3U);
}

}  // namespace
}  // namespace sinew::cli
