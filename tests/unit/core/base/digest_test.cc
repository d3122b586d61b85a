#include "core/base/digest.h"

#include <gtest/gtest.h>

#include <array>

namespace sinew {
namespace {

TEST(Sha256, MatchesPublishedVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, PiecewiseUpdateMatchesWhole) {
  Sha256 digest;
  digest.Update("a");
  digest.Update("bc");
  EXPECT_EQ(digest.Hex(), Sha256Hex("abc"));
}

TEST(Sha256, ArrayBoundariesChangeDigest) {
  const std::array<int, 3> values = {1, 2, 3};
  Sha256 a, b;
  a.UpdateArray(std::span<const int>(values).first(1));
  a.UpdateArray(std::span<const int>(values).subspan(1));
  b.UpdateArray(std::span<const int>(values).first(2));
  b.UpdateArray(std::span<const int>(values).subspan(2));
  EXPECT_NE(a.Hex(), b.Hex());
}

}  // namespace
}  // namespace sinew
