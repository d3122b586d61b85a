// Meshes of COLLADA files as the specification has them, some of which Assimp misreads.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/collada_file.h"
#include "tests/support/gltf_builder.h"
#include "tests/unit/client/import/collada_edits.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using testing::ColladaFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kParams[] =
    "<param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/>"
    "<param name=\"Z\" type=\"float\"/>";
constexpr char kStride[] = "source=\"#p-a\" count=\"3\" stride=\"3\"";
constexpr char kNumbers[] = "count=\"9\">0 0 0 1 0 0 0 1 0<";
constexpr char kTriangle[] =
    "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p>";

// The triangle of ColladaFile.
absl::StatusOr<ImportedScene> Import(const Edits& edits) {
  const std::string file = ColladaFile({"A"}, "<node id=\"a\" sid=\"A\"/>", "");
  return ImportFile(testing::WriteFile("x.dae", Edited(file, edits)));
}

std::string Refusal(const Edits& edits) {
  return MessageOf(Import(edits).status());
}

std::vector<float> Positions(const Edits& edits) {
  const auto scene = Import(edits);
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? scene->rig.meshes.at(0).positions : std::vector<float>();
}

std::string Params(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    absl::StrAppend(&out, name.empty() ? "<param " : absl::StrCat("<param name=\"", name, "\" "),
                    "type=\"float\"/>");
  }
  return out;
}

const auto kAsWritten = ElementsAre(0, 0, 0, 1, 0, 0, 0, 1, 0);

TEST(ColladaMesh, ParamsMayHaveAnyNames) {
  for (const auto& names : std::vector<std::vector<std::string>>{{"X", "Y", "Z"},
                                                                 {"P0", "P1", "P2"},
                                                                 {"x", "y", "z"},
                                                                 {"X", "y", "z"},
                                                                 {"A", "B", "C"},
                                                                 {"S", "T", "P"},
                                                                 {"", "", ""},
                                                                 {}}) {
    EXPECT_THAT(Positions({{kParams, Params(names)}}), kAsWritten)
        << ::testing::PrintToString(names);
  }
}

TEST(ColladaMesh, NamedParamsAreFoundInAnyOrder) {
  EXPECT_THAT(Positions({{kParams, Params({"Z", "X", "Y"})}}),
              ElementsAre(0, 0, 0, 0, 0, 1, 1, 0, 0));
}

// Tuples of five numbers, of which the second and the last are not for positions.
TEST(ColladaMesh, ParamsWithoutNameAreLeftOut) {
  for (const auto& names : std::vector<std::vector<std::string>>{{"X", "", "Y", "Z"},
                                                                 {"X", "", "Y", "Z", ""},
                                                                 {"P0", "", "P1", "P2"},
                                                                 {"P0", "", "P1", "P2", "X"}}) {
    EXPECT_THAT(Positions({{kParams, Params(names)},
                           {kStride, "source=\"#p-a\" count=\"3\" stride=\"5\""},
                           {kNumbers, "count=\"15\">0 7 0 0 8 1 7 0 0 8 0 7 1 0 8<"}}),
                kAsWritten)
        << ::testing::PrintToString(names);
  }
}

TEST(ColladaMesh, TextureCoordinatesMayHaveAnyNames) {
  for (const auto& names :
       std::vector<std::vector<std::string>>{{"S", "T"}, {"U", "V"}, {"P0", "P1"}, {}}) {
    const auto scene =
        Import({{"<vertices id=\"v\">",
                 absl::StrCat(
                     "<source id=\"t\"><float_array id=\"t-a\" count=\"6\">0 0 1 0.5 0.25 1"
                     "</float_array><technique_common><accessor source=\"#t-a\" count=\"3\" "
                     "stride=\"2\">",
                     Params(names), "</accessor></technique_common></source><vertices id=\"v\">")},
                {"<p>0 1 2</p>",
                 "<input semantic=\"TEXCOORD\" source=\"#t\" offset=\"1\"/><p>0 0 1 1 2 2</p>"}});
    ASSERT_TRUE(scene.ok()) << scene.status();
    EXPECT_THAT(scene->mesh_extras.at(0).corner_uvs, ElementsAre(0, 0, 1, 0.5f, 0.25f, 1))
        << ::testing::PrintToString(names);
  }
}

TEST(ColladaMesh, RefusesPositionsOfOtherSizes) {
  const auto refused = [](const std::string& words) {
    return AllOf(HasSubstr("geometry 'g': source 'p': "), HasSubstr(words));
  };
  EXPECT_THAT(Refusal({{kParams, Params({"X", "Y"})}}), refused("tuples of 2 numbers, need 3"));
  EXPECT_THAT(Refusal({{kParams, Params({"X", "Y", "Z", "W"})}}),
              refused("stride 3 for 4 numbers of its params"));
  EXPECT_THAT(Refusal({{kNumbers, "count=\"8\">0 0 0 1 0 0 0 1<"}}),
              refused("an array of 8 values for an accessor of 9"));
  EXPECT_THAT(Refusal({{kNumbers, "count=\"6\">0 0 0 1 0 0 0 1 0<"}}),
              refused("an array of 6 values for an accessor of 9"));
}

TEST(ColladaMesh, RefusesNegativeIndices) {
  EXPECT_THAT(Refusal({{"<p>0 1 2</p>", "<p>0 -1 2</p>"}}),
              HasSubstr("geometry 'g': index 1 in <p> is -1, need 0 or more"));
  EXPECT_THAT(Refusal({{"<p>0 1 2</p>", "<p>0 x 2</p>"}}), HasSubstr("'x' in <p>"));
}

TEST(ColladaMesh, RefusesPrimitivesWithoutCount) {
  EXPECT_THAT(Refusal({{"<triangles count=\"1\">", "<triangles>"}}),
              HasSubstr("geometry 'g': <triangles>: count ''"));
  EXPECT_THAT(Refusal({{"<triangles count=\"1\">", "<triangles count=\"0\">"}}),
              HasSubstr("<triangles>: count '0'"));
}

// Beside one that is known, and does not need to be behind it.
TEST(ColladaMesh, RefusesUnknownInputBehindAllOthers) {
  const auto with = [](int unknown, int known) {
    return Edits{
        {kTriangle,
         absl::StrCat("<polygons count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"",
                      known, "\"/><input semantic=\"CREASE\" source=\"#p\" offset=\"", unknown,
                      "\"/><p>", known == 0 ? "0 0 1 0 2 0" : "0 0 0 1 0 2", "</p>")},
        {"</triangles>", "</polygons>"}};
  };
  EXPECT_THAT(Positions(with(0, 1)), kAsWritten);
  EXPECT_THAT(Refusal(with(1, 0)), HasSubstr("<polygons> has an input behind all others"));
}

}  // namespace
}  // namespace sinew::client
