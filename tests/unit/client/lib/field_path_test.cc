#include "client/lib/base/field_path.h"

#include <gtest/gtest.h>

namespace sinew {
namespace {

TEST(LeadingPath, EndsBeforeColon) {
  EXPECT_EQ(LeadingPath("pose: got 1"), "pose");
  EXPECT_EQ(LeadingPath("a.b_c[3].d: got x: y"), "a.b_c[3].d");
}

TEST(LeadingPath, IsEmptyForOtherText) {
  for (const char* message : {"", "a", "a:", ": c", "a b: c", "--a: b", "/tmp/a: b", "a:b: c"}) {
    EXPECT_EQ(LeadingPath(message), "") << message;
  }
}

}  // namespace
}  // namespace sinew
