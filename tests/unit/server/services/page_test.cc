#include "server/services/page.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {
namespace {

TEST(Page, MakesRowsUntilItIsFull) {
  const std::vector<int> items(1000);
  int made = 0;
  v1::ListRigsResponse page;
  const std::string token = FillPage(items, false, page.mutable_rigs(), [&](int) {
    v1::RigSummary row;
    row.set_name(std::to_string(++made));
    row.add_meshes()->set_name(std::string(1 << 20, 'm'));
    return row;
  });
  EXPECT_EQ(made, 3) << "one more than fits";
  EXPECT_EQ(page.rigs_size(), 2);
  EXPECT_EQ(token, "2");
}

TEST(Page, HasARowHoweverLarge) {
  v1::ListRigsResponse page;
  const auto row = [](int) {
    v1::RigSummary large;
    large.set_name(std::string(4 << 20, 'n'));
    return large;
  };
  EXPECT_EQ(FillPage(std::vector<int>(1), false, page.mutable_rigs(), row), "");
  EXPECT_EQ(page.rigs_size(), 1);
}

}  // namespace
}  // namespace sinew::server
