#include "core/base/counted_text.h"

#include <gtest/gtest.h>

namespace sinew {
namespace {

TEST(CountedText, OneIsSingular) {
  EXPECT_EQ(CountedText(0, "part"), "0 parts");
  EXPECT_EQ(CountedText(1, "frame"), "1 frame");
  EXPECT_EQ(CountedText(48, "frame"), "48 frames");
  EXPECT_EQ(CountedText(1, "vertex has", "vertices have"), "1 vertex has");
  EXPECT_EQ(CountedText(2, "vertex has", "vertices have"), "2 vertices have");
}

}  // namespace
}  // namespace sinew
