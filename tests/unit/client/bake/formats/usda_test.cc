#include "client/bake/formats/usda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/base/bulk_checksum.h"

namespace sinew::bake {
namespace {

using ::testing::ElementsAre;

TEST(Usda, PrimNamesAreValidAndUnique) {
  const std::vector<std::string> names = {"Body", "left eye", "left_eye", "1st", "", "\xc3\xa4"};
  EXPECT_THAT(UsdPrimNames(names),
              ElementsAre("Body", "left_eye", "left_eye_2", "_1st", "mesh", "__"));
}

TEST(Usda, PathsOfPrims) {
  for (const char* good : {"/Hero", "/Hero/geo", "/_a/b_1"})
    EXPECT_TRUE(IsUsdPrimPath(good)) << good;
  for (const char* bad :
       {"", "/", "Hero", "/Hero/", "//a", "/1a", "/a b", "/a.b", "/a//b", "/../a"}) {
    EXPECT_FALSE(IsUsdPrimPath(bad)) << bad;
  }
}

TEST(Usda, NumbersReadAsTheSame) {
  std::string out;
  const float values[] = {0.1F, -1.5e-7F, 3, std::numeric_limits<float>::max(), 16777216, -0.0F};
  AppendUsdTuples(values, 3, out);
  EXPECT_EQ(out, "[(0.1, -1.5e-07, 3), (3.4028235e+38, 16777216, -0)]");
  out.clear();
  AppendUsdNumber(-0.0, out);
  EXPECT_EQ(out, "0");
  out.clear();
  AppendUsdTuples({}, 3, out);
  EXPECT_EQ(out, "[]");
}

TEST(Usda, ExtentBoundsThePoints) {
  std::string out;
  const float points[] = {1, -2, 3, -4, 5, 0.5F};
  AppendUsdExtent(points, out);
  EXPECT_EQ(out, "[(-4, -2, 0.5), (1, 5, 3)]");
}

TEST(Usda, TextIsQuoted) {
  EXPECT_EQ(UsdQuoted("a\"b\\c\n"), "\"a\\\"b\\\\c \"");
  EXPECT_EQ(UsdAsset("a.clips/0-9.usda"), "@./a.clips/0-9.usda@");
  EXPECT_EQ(UsdAsset("a@b.usda"), "@@@./a@b.usda@@@");
}

TEST(Usda, HeaderIsThatOfALayer) {
  EXPECT_EQ(UsdLayerHeader({.default_prim = "Hero",
                            .comment = "",
                            .start = -1,
                            .end = 47,
                            .fps = 29.97,
                            .meters_per_unit = 0.01,
                            .up_axis = "Z",
                            .sublayers = {"a.usda", "b.usda"}}),
            R"(#usda 1.0
(
    defaultPrim = "Hero"
    endTimeCode = 47
    framesPerSecond = 29.97
    metersPerUnit = 0.01
    startTimeCode = -1
    subLayers = [
        @./a.usda@,
        @./b.usda@
    ]
    timeCodesPerSecond = 29.97
    upAxis = "Z"
)

)");
}

TEST(ContentHash, PiecesGiveTheHashOfTheWhole) {
  const std::string text(5000, 'x');
  ContentHash pieces;
  pieces.Update(text.substr(0, 1234));
  pieces.Update(text.substr(1234));
  const std::uint64_t whole = BulkChecksum({std::as_bytes(std::span(text))});
  EXPECT_EQ(pieces.Digest(), whole);
}

}  // namespace
}  // namespace sinew::bake
