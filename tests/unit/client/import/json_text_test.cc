#include "client/import/json_text.h"

#include <gtest/gtest.h>

namespace sinew::client {
namespace {

TEST(JsonText, PlaceIsLineAndColumn) {
  const std::string text = "{\n  \"a\" 1\r\n}";
  EXPECT_EQ(PlaceInText(text, 1), "line 1, column 1");
  EXPECT_EQ(PlaceInText(text, 2), "line 1, column 2") << "a line's end belongs to the line";
  EXPECT_EQ(PlaceInText(text, 3), "line 2, column 1");
  EXPECT_EQ(PlaceInText(text, 9), "line 2, column 7");
  EXPECT_EQ(PlaceInText(text, text.size()), "line 3, column 1");
  EXPECT_EQ(PlaceInText(text, text.size() + 1), "line 3, column 2") << "the end";
}

TEST(JsonText, PlaceOutsideTextIsClamped) {
  EXPECT_EQ(PlaceInText("", 0), "line 1, column 1");
  EXPECT_EQ(PlaceInText("", 1), "line 1, column 1");
  EXPECT_EQ(PlaceInText("ab", 0), "line 1, column 1");
  EXPECT_EQ(PlaceInText("ab\n", 99), "line 2, column 1");
}

TEST(JsonText, ColumnsAreCharacters) {
  EXPECT_EQ(PlaceInText("\"\u00e9\u4e2d\" x", 9), "line 1, column 6") << "of 2 and 3 bytes";
}

}  // namespace
}  // namespace sinew::client
