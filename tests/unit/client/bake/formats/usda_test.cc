#include "client/bake/formats/usda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "client/bake/formats/usda_points.h"
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

TEST(UsdaPoints, MeshesFollowEachOtherInEveryFrame) {
  const auto points = ReadUsdaPoints(
      "def Mesh \"a\"\n{\n    point3f[] points.timeSamples = {\n"
      "        1: [(1, 2, 3), (-4, 5e-1, 6)],\n        2: [(7, 8, 9), (10, 11, 12)],\n    }\n}\n"
      "def Mesh \"b\"\n{\n    point3f[] points.timeSamples = {\n"
      "        1: [(0.1, 0, -0)],\n        2: [(0, 0.2, 0)],\n    }\n}\n");
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->frames, 2u);
  EXPECT_EQ(points->vertices, 3u);
  EXPECT_THAT(points->values,
              ElementsAre(1, 2, 3, -4, 0.5F, 6, 0.1F, 0, -0.0F, 7, 8, 9, 10, 11, 12, 0, 0.2F, 0));
}

TEST(UsdaPoints, RefusesWhatDoesNotRead) {
  const auto refusal = [](const std::string& samples) {
    const auto points = ReadUsdaPoints("point3f[] points.timeSamples = {" + samples);
    EXPECT_EQ(points.status().code(), absl::StatusCode::kInvalidArgument) << samples;
    return std::string(points.status().message());
  };
  EXPECT_EQ(refusal("1: [(1, 2)],}"), "usda: sample 1 of the points of mesh 1 does not read");
  for (const char* bad : {"", "1", "1:", "1: [", "1: [],}", "1: [(1, 2, 3)", "1: [(1, 2, 3)],",
                          "1: None,}", "1: [(1, 2, 3)], 2: [(1, 2, 3), (4, 5, 6)],}"}) {
    refusal(bad);
  }
  EXPECT_EQ(refusal("}"), "usda: mesh 1 has 0 samples of its points, need those of the first, 0");
  EXPECT_EQ(refusal("1: [(1, 2, 3)],}\npoint3f[] points.timeSamples = {2: [(1, 2, 3)],}"),
            "usda: mesh 2 has 1 samples of its points, need those of the first, 1");
  EXPECT_EQ(ReadUsdaPoints("#usda 1.0").status().message(),
            "usda: no time samples of points, need a layer that has them");
}

}  // namespace
}  // namespace sinew::bake
