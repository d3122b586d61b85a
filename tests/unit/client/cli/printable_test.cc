#include "client/cli/base/printable.h"

#include <gtest/gtest.h>

namespace sinew::cli {
namespace {

constexpr char kMark[] = "\xef\xbf\xbd";  // U+FFFD

TEST(Printable, KeepsWellFormedText) {
  for (const char* text : {"", "hero.glb", "\u00fc\u4e2d", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, ReplacesMalformedSequences) {
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
    const std::string text = Printable(input);
    EXPECT_EQ(text.find(row), std::string::npos);
    EXPECT_EQ(text.substr(1, 3), kMark);
    EXPECT_EQ(text.back(), 'b');
  }
}

TEST(Printable, KeepsTextAfterMalformedSequences) {
  EXPECT_EQ(Printable("a\xff\xc3(b"), "a\xef\xbf\xbd\xef\xbf\xbd(b");
  EXPECT_EQ(Printable("\xe2\x82"), kMark) << "truncated at the end";
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
