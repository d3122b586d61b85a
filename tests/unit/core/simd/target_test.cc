#include "core/simd/target.h"

#include <gtest/gtest.h>

namespace sinew {
namespace {

TEST(Target, ForcesEverySupportedLevel) {
  const auto isas = SupportedIsas();
  ASSERT_FALSE(isas.empty());
  EXPECT_EQ(isas.front(), Isa::kScalar);
  for (const Isa isa : isas) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_EQ(ActiveIsa(), isa);
    EXPECT_EQ(SupportedIsas(), isas) << "forcing a level hides no other";
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  EXPECT_EQ(ActiveIsa(), isas.back());
}

TEST(Target, RejectsUnknownNamesAndUnsupportedLevels) {
  Isa isa = Isa::kAuto;
  EXPECT_TRUE(ParseIsa("avx2", isa).ok());
  EXPECT_EQ(isa, Isa::kAvx2);
  EXPECT_EQ(ParseIsa("sse9", isa).code(), absl::StatusCode::kInvalidArgument);
#if defined(__x86_64__)
  EXPECT_EQ(ForceIsa(Isa::kNeon).code(), absl::StatusCode::kInvalidArgument);
#endif
}

}  // namespace
}  // namespace sinew
