#include "client/cli/base/table.h"

#include <gtest/gtest.h>

namespace sinew::cli {
namespace {

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  Table table({{"name"}, {"count"}, {"time"}, {"what"}});
  table.Add({"lbs", 7U, Cell(0.5, "0.50 s"), "fast"});
  table.Add({"enhanced_ddm", 12'597U, Cell(nullptr, "-"), ""});
  EXPECT_EQ(table.Text(),
            "name           count    time  what\n"
            "lbs                7  0.50 s  fast\n"
            "enhanced_ddm  12,597       -\n");
}

TEST(Table, ColumnsMayBeOfOneFormOnly) {
  Table table({{"method"}, {"volume", "volume_ratio"}, {"", "frame"}, {"", "limit"}});
  table.Add({"lbs", Cell(0.97, "97 %"), 3U, 255U});
  table.Add({"dqs", Cell(nullptr, "-"), 4U});
  EXPECT_EQ(table.Text(), "method  volume\nlbs       97 %\ndqs          -\n");
  EXPECT_EQ(table.Json().dump(), R"([{"volume_ratio":0.97,"frame":3,"limit":255},)"
                                 R"({"volume_ratio":null,"frame":4}])");
  const Table empty(std::vector<Table::Column>{{"method", "name"}});
  EXPECT_EQ(empty.Json().dump(), "[]");
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
