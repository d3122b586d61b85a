#include "client/cli/base/table.h"

#include <gtest/gtest.h>

namespace sinew::cli {
namespace {

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  Table table({{"name"}, {"count", Table::Align::kRight}, {"what"}});
  table.Add({"lbs", "7", "fast"});
  table.Add({"enhanced_ddm", "12,597", ""});
  EXPECT_EQ(table.Text(),
            "name           count  what\n"
            "lbs                7  fast\n"
            "enhanced_ddm  12,597\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"a"}, {"b"}});
  table.Add({"H\xc3\xa4nde", "1"});
  table.Add({"hands", "2"});
  EXPECT_EQ(table.Text(), "a      b\nH\xc3\xa4nde  1\nhands  2\n");
}

TEST(Table, MissingCellsAreEmptyExtraOnesDropped) {
  Table table({{"a"}, {"b"}});
  table.Add({"1"});
  table.Add({"1", "2", "3"});
  EXPECT_EQ(table.Text(), "a  b\n1\n1  2\n");
  EXPECT_EQ(table.rows(), 2U);
}

TEST(Table, EscapesControlCharacters) {
  Table table({{"joint"}});
  table.Add({"\x1b]0;title\a\nnext\xc2\x9b"});
  EXPECT_EQ(table.Text(), "joint\n?]0;title??next?\n");
}

}  // namespace
}  // namespace sinew::cli
