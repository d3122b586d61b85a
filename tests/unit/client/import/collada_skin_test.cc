// Skins of COLLADA files as the specification has them, some of which Assimp misreads.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/collada_file.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"
#include "tests/unit/client/import/collada_edits.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using testing::ColladaFile;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::Point;

constexpr char kBindShape[] =
    "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>";
constexpr char kCounts[] = "<vcount>2 2 2 </vcount>";
constexpr char kIndices[] = "<v>0 0 1 0 0 0 1 0 0 0 1 0 </v>";

// The triangle of ColladaFile in equal parts on A, which is 10 along x, and B, 4 above it.
std::string File(const Edits& edits = {}) {
  const char nodes[] = R"(<node id="a" sid="A"><translate>10 0 0</translate>
<node id="b" sid="B"><translate>0 4 0</translate></node></node>)";
  return Edited(ColladaFile({"A", "B"}, nodes, ""), edits);
}

absl::StatusOr<ImportedScene> Import(const Edits& edits, const ImportOptions& options = {}) {
  return ImportFile(testing::WriteFile("x.dae", File(edits)), options);
}

std::string Refusal(const Edits& edits) {
  return MessageOf(Import(edits).status());
}

// The vertices at rest, in the order of the triangle.
std::vector<Point> Rest(const absl::StatusOr<ImportedScene>& scene) {
  EXPECT_TRUE(scene.ok()) << scene.status();
  if (!scene.ok() || scene->rig.meshes.size() != 1) return {};
  return testing::LinearBlend(scene->rig, scene->rig.meshes[0], RestPose(*scene), 0);
}

// Half of A's place and half of B's.
const auto kHalfWay = ElementsAre(Point{10, 2, 0}, Point{11, 2, 0}, Point{10, 3, 0});

TEST(ColladaSkin, MissingBindShapeIsTheIdentity) {
  EXPECT_THAT(Rest(Import({})), kHalfWay);
  EXPECT_THAT(Rest(Import({{kBindShape, ""}})), kHalfWay);
}

TEST(ColladaSkin, BindShapeComesBeforeTheBind) {
  const std::string twice =
      "<bind_shape_matrix>2 0 0 0 0 2 0 0 0 0 2 5 0 0 0 1</bind_shape_matrix>";
  EXPECT_THAT(Rest(Import({{kBindShape, twice}})),
              ElementsAre(Point{10, 2, 5}, Point{12, 2, 5}, Point{10, 4, 5}));
}

TEST(ColladaSkin, WarnsOfSingularBinds) {
  const auto scene = Import(
      {{kBindShape, "<bind_shape_matrix>0 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>"}});
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_THAT(scene->problems,
              Contains(AllOf(Field(&Problem::severity, Severity::kWarning),
                             Field(&Problem::message,
                                   HasSubstr("2 joints have a singular inverse bind matrix")))));
}

TEST(ColladaSkin, RefusesMatricesThatAreNotAffine) {
  EXPECT_THAT(Refusal({{kBindShape, "<bind_shape_matrix>1 0 0</bind_shape_matrix>"}}),
              AllOf(HasSubstr("controller 'c'"), HasSubstr("of 3 numbers, need 16")));
  EXPECT_THAT(Refusal({{kBindShape,
                        "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1</bind_shape_matrix>"}}),
              HasSubstr("<bind_shape_matrix>: the last row"));
  EXPECT_THAT(Refusal({{"0 0 0 1</float_array>", "0 0 0 2</float_array>"}}),
              HasSubstr("inverse bind matrix of 'B': the last row"));
  EXPECT_THAT(Refusal({{"count=\"2\" stride=\"16\"", "count=\"1\" stride=\"16\""}}),
              HasSubstr("1 inverse bind matrices of 16 numbers, need 2 of 16"));
}

// Vertex 1 has the bind shape alone, the others the first or the second joint.
TEST(ColladaSkin, BindShapeIsNoJoint) {
  const Edits edits = {{kCounts, "<vcount>1 1 1</vcount>"}, {kIndices, "<v>0 0 -1 0 1 0</v>"}};
  EXPECT_THAT(Refusal(edits), AllOf(HasSubstr("1 vertex has no weight, the first is 1"),
                                    HasSubstr("--unweighted")));
  EXPECT_THAT(Rest(Import(edits, {.unweighted = Unweighted::kStill})),
              ElementsAre(Point{10, 0, 0}, Point{11, 0, 0}, Point{10, 5, 0}));
}

TEST(ColladaSkin, WeightsMayBeMissingAltogether) {
  EXPECT_THAT(Rest(Import({{kCounts, "<vcount>0 0 0</vcount>"},
                           {kIndices, "<v/>"},
                           {"count=\"1\">0.5</float_array>", "count=\"0\"></float_array>"},
                           {"#w-a\" count=\"1\"", "#w-a\" count=\"0\""}},
                          {.unweighted = Unweighted::kRoot})),
              ElementsAre(Point{10, 0, 0}, Point{11, 0, 0}, Point{10, 1, 0}));
}

TEST(ColladaSkin, RefusesVerticesOnJointsAndBindShape) {
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 1 0 0 0 1 0 -1 0 1 0</v>"}}),
              AllOf(HasSubstr("controller 'c': vertex 2 is held by joints and the bind shape")));
}

TEST(ColladaSkin, RefusesIndicesOutOfRangeWithTheirVertex) {
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 1 0 0 0 -2 0 0 0 1 0</v>"}}),
              HasSubstr("vertex 1 names joint -2, need -1 (the bind shape) to 1"));
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 2 0 0 0 1 0 0 0 1 0</v>"}}),
              HasSubstr("vertex 0 names joint 2"));
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 1 0 0 0 1 0 0 0 1 1</v>"}}),
              HasSubstr("vertex 2 names weight 1, need 0 to 0"));
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 1 0 0 0 1 0 0 0 1 -1</v>"}}),
              HasSubstr("vertex 2 names weight -1"));
  EXPECT_THAT(Refusal({{kIndices, "<v>0 0 1.5 0 0 0 1 0 0 0 1 0</v>"}}),
              HasSubstr("'1.5' in <v>, need whole numbers"));
}

TEST(ColladaSkin, RefusesCountsThatDoNotFit) {
  EXPECT_THAT(Refusal({{kCounts, "<vcount>2 2 1</vcount>"}}),
              HasSubstr("12 numbers in <v>, need 2 for each of 5 influences"));
  EXPECT_THAT(Refusal({{kCounts, "<vcount>2 -1 2</vcount>"}}), HasSubstr("-1 joints in <vcount>"));
  EXPECT_THAT(Refusal({{kCounts, "<vcount>2 99 2</vcount>"}}), HasSubstr("99 joints in <vcount>"));
  EXPECT_THAT(Refusal({{kCounts, "<vcount>2 4</vcount>"}}),
              HasSubstr("<vertex_weights> of 3 vertices with 2 in <vcount>"));
  EXPECT_THAT(Refusal({{kCounts, "<vcount>2 4</vcount>"},
                       {"<vertex_weights count=\"3\">", "<vertex_weights count=\"2\">"}}),
              HasSubstr("need the 3 of its geometry"));
}

TEST(ColladaSkin, ReadsNumbersBehindWhiteSpace) {
  EXPECT_THAT(Rest(Import({{"<vcount>", "<vcount>\n  "}, {"<v>", "<v>\n  "}})), kHalfWay);
}

TEST(ColladaSkin, IndicesComeInTheOrderOfTheirOffsets) {
  EXPECT_THAT(Rest(Import({{"source=\"#j\" offset=\"0\"", "source=\"#j\" offset=\"2\""},
                           {"source=\"#w\" offset=\"1\"", "source=\"#w\" offset=\"0\""},
                           {kIndices, "<v>0 9 0 0 9 1 0 9 0 0 9 1 0 9 0 0 9 1</v>"}})),
              kHalfWay);
}

TEST(ColladaSkin, ReadsNamesAndMatricesBehindOffsets) {
  EXPECT_THAT(
      Rest(Import({{"count=\"2\">A B<", "count=\"3\">nothing A B<"},
                   {"source=\"#j-a\" count=\"2\">", "source=\"#j-a\" count=\"2\" offset=\"1\">"},
                   {"count=\"32\">", "count=\"33\">7 "},
                   {"source=\"#b-a\" count=\"2\"", "source=\"#b-a\" count=\"2\" offset=\"1\""}})),
      kHalfWay);
}

TEST(ColladaSkin, ArraysHaveWhatTheyState) {
  EXPECT_THAT(Refusal({{"\"b-a\" count=\"32\"", "\"b-a\" count=\"20\""}}),
              HasSubstr("source 'b': an array of 20 values for an accessor of 32"));
  EXPECT_THAT(Refusal({{"\"w-a\" count=\"1\"", "\"w-a\" count=\"0\""}}),
              HasSubstr("source 'w': an array of 0 values for an accessor of 1"));
}

TEST(ColladaSkin, NegativeWeightsCountAsNothingOrAreRefused) {
  const std::string weights = "count=\"1\">0.5</float_array>", accessor = "#w-a\" count=\"1\"";
  const auto edits = [&](const std::string& second) {
    return Edits{{weights, absl::StrCat("count=\"2\">0.5 ", second, "</float_array>")},
                 {accessor, "#w-a\" count=\"2\""},
                 {kIndices, "<v>0 0 1 1 0 0 1 0 0 0 1 0</v>"}};
  };
  EXPECT_THAT(Refusal(edits("-0.25")), HasSubstr("vertex 0 has the weight -0.25"));
  const auto scene = Import(edits("-0.0005"));
  EXPECT_THAT(Rest(scene), ElementsAre(Point{10, 0, 0}, Point{11, 2, 0}, Point{10, 3, 0}));
  EXPECT_THAT(
      scene->problems,
      Contains(AllOf(Field(&Problem::severity, Severity::kWarning),
                     Field(&Problem::message, HasSubstr("1 negative weight counts as 0")))));
}

// Some exporters give a node and what it shows the same id.
TEST(ColladaSkin, NodesMayHaveTheIdsOfOtherElements) {
  EXPECT_THAT(Rest(Import({{kBindShape, ""}, {"<node id=\"mesh\"", "<node id=\"c\""}})), kHalfWay);
  EXPECT_THAT(Rest(Import({{kBindShape, ""}, {"<node id=\"mesh\"", "<node id=\"g\""}})), kHalfWay);
}

// Two skins whose weights are called "w": Assimp takes those of the second for both.
TEST(ColladaSkin, RefusesSourcesOfOneId) {
  const std::string file = File();
  const std::size_t begin = file.find("<controller"), end = file.find("</library_controllers>");
  const auto second = [&](const std::vector<std::string>& ids) {
    std::string skin = file.substr(begin, end - begin);
    for (const std::string& id : ids) {
      skin = absl::StrReplaceAll(
          skin, {{"\"" + id + "\"", "\"" + id + "2\""}, {"\"#" + id + "\"", "\"#" + id + "2\""}});
    }
    return Edits{{"</library_controllers>", skin + "</library_controllers>"}};
  };
  EXPECT_TRUE(Import(second({"c", "j", "j-a", "b", "b-a", "w", "w-a"})).ok());
  EXPECT_THAT(Refusal(second({"c", "j", "j-a", "b", "b-a"})),
              HasSubstr("controller 'c': source 'w': it or its array has the id of another"));
  EXPECT_THAT(Refusal(second({"c", "j", "j-a", "b", "w", "w-a"})),
              HasSubstr("source 'b': it or its array"));
}

TEST(ColladaSkin, RefusesMissingGeometry) {
  EXPECT_THAT(Refusal({{"<skin source=\"#g\">", "<skin source=\"#gone\">"}}),
              HasSubstr("controller 'c': no geometry '#gone' in the file"));
}

}  // namespace
}  // namespace sinew::client
