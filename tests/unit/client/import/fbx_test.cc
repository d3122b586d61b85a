// FBX against Maya's own deformed meshes, and damaged FBX files.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "client/rig/rig_traits.h"
#include "sinew/clip_files.h"
#include "sinew/import.h"
#include "tests/support/fbx_writer.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"
#include "tests/support/paths.h"

namespace sinew::client {
namespace {

using testing::FbxWriter;
using ::testing::HasSubstr;
using testing::Point;

std::string MayaPath(const std::string& suffix) {
  return (testing::SharedData() / "models" / ("maya_kenney_character_" + suffix)).string();
}

#define NEED_MAYA_OR_SKIP() \
  if (!std::filesystem::exists(MayaPath("7700_binary.fbx"))) GTEST_SKIP() << "no shared test data"

struct Obj {
  std::vector<Point> points;
  std::vector<std::vector<std::size_t>> faces;
};

Obj ReadObj(const std::string& path) {
  Obj out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      Point p{};
      words >> p[0] >> p[1] >> p[2];
      out.points.push_back(p);
    } else if (kind == "f") {
      std::vector<std::size_t> face;
      for (std::string corner; words >> corner;) face.push_back(std::stoul(corner) - 1);
      out.faces.push_back(face);
    }
  }
  return out;
}

// Maya's control point for each of our vertices, by walking the corners of both, which are in the
// same order.
std::vector<std::size_t> MatchControlPoints(const Mesh& mesh, const Obj& obj) {
  std::vector<std::size_t> match(mesh.vertices(), obj.points.size());
  std::size_t corner = 0;
  EXPECT_EQ(mesh.face_sizes.size(), obj.faces.size());
  for (std::size_t f = 0; f < obj.faces.size(); ++f) {
    EXPECT_EQ(mesh.face_sizes[f], obj.faces[f].size()) << "face " << f;
    for (const std::size_t control_point : obj.faces[f]) {
      std::size_t& matched = match[mesh.face_vertices[corner++]];
      if (matched == obj.points.size()) matched = control_point;
      EXPECT_EQ(matched, control_point) << "corner " << corner;
    }
  }
  return match;
}

class MayaFrame : public ::testing::TestWithParam<int> {};

TEST_P(MayaFrame, LinearBlendReproducesVertices) {
  NEED_MAYA_OR_SKIP();
  const auto scene = ImportFile(MayaPath("7700_binary.fbx"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  const Obj obj = ReadObj(MayaPath(std::to_string(GetParam()) + ".obj"));
  ASSERT_EQ(obj.points.size(), 804u);
  const Mesh& mesh = scene->rig.meshes.at(0);
  ASSERT_EQ(mesh.vertices(), 804u);
  const std::vector<std::size_t> match = MatchControlPoints(mesh, obj);
  EXPECT_EQ(std::set<std::size_t>(match.begin(), match.end()).size(), 804u);

  SampleOptions options;
  options.fps = 24;
  options.first_frame = options.last_frame = GetParam();
  const auto clip = SampleClip(*scene, FindClip(*scene, "Take 001").value(), options);
  ASSERT_TRUE(clip.ok()) << clip.status();
  const std::vector<Point> posed = testing::LinearBlend(scene->rig, mesh, *clip, 0);
  Point low = obj.points[0], high = obj.points[0];
  double worst = 0;
  for (std::size_t v = 0; v < posed.size(); ++v) {
    const Point& expected = obj.points[match[v]];
    worst = std::max(worst, std::hypot(posed[v][0] - expected[0], posed[v][1] - expected[1],
                                       posed[v][2] - expected[2]));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], expected[axis]);
      high[axis] = std::max(high[axis], expected[axis]);
    }
  }
  const double diagonal = std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  RecordProperty("worst_over_diagonal", absl::StrCat(worst / diagonal));
  EXPECT_LT(worst, 1e-5 * diagonal);
  EXPECT_GT(diagonal, 100) << "centimetres in world space";
}

INSTANTIATE_TEST_SUITE_P(Frames, MayaFrame, ::testing::Values(4, 9));

TEST(FbxImport, KeepsControlPointsPolygonsAndEmptyClusters) {
  NEED_MAYA_OR_SKIP();
  const auto scene = ImportFile(MayaPath("7700_binary.fbx"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  const client::RigTraits traits = client::CountRig(scene->rig);
  const client::MeshTraits& mesh = traits.meshes.at(0);
  EXPECT_EQ(mesh.vertices, 804u);
  EXPECT_EQ(mesh.faces, 826u);
  EXPECT_EQ(mesh.triangles, 1604u);
  EXPECT_EQ(mesh.max_influences, 4u);
  EXPECT_EQ(scene->rig.joints.size(), 45u);
  EXPECT_EQ(traits.joints_without_weights.size(), 13u);
  EXPECT_TRUE(scene->keeps_file_order);
  EXPECT_DOUBLE_EQ(scene->rig.meters_per_unit, 0.01);
  EXPECT_EQ(scene->rig.up_axis, UpAxis::kY);
  ASSERT_EQ(scene->clips.size(), 1u);
  EXPECT_NEAR(scene->clips[0].end, 20.0 / 24, 1e-9);
  EXPECT_EQ(scene->clips[0].keys, 17u);
  EXPECT_EQ(ClipFrames(scene->clips[0], 24), 21);
}

// Maya writes its own control points, in the same order, to the .obj.
TEST(FbxImport, VerticesAreControlPointsInFileOrder) {
  NEED_MAYA_OR_SKIP();
  const auto scene = ImportFile(MayaPath("7700_binary.fbx"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  const std::vector<std::size_t> match =
      MatchControlPoints(scene->rig.meshes.at(0), ReadObj(MayaPath("4.obj")));
  for (std::size_t v = 0; v < match.size(); ++v) ASSERT_EQ(match[v], v);
}

TEST(FbxImport, RefusesEveryTruncation) {
  NEED_MAYA_OR_SKIP();
  std::ifstream in(MayaPath("7700_binary.fbx"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 23; size + 200 < whole.size(); size += 7919) {
    const auto scene = ImportFile(testing::WriteFile("cut.fbx", whole.substr(0, size)));
    EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

// A binary FBX 7.4 record: name, properties already encoded, children already encoded.
class FbxRecords {
 public:
  static std::string Number(std::uint64_t value, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
    return out;
  }
  static std::string Id(std::uint64_t id) { return absl::StrCat("L", Number(id, 8)); }
  static std::string Text(const std::string& text) {
    return absl::StrCat("S", Number(text.size(), 4), text);
  }

  std::string bytes = std::string("Kaydara FBX Binary  \0\x1a\0", 23) + Number(7400, 4);

  void Open(const std::string& name, const std::vector<std::string>& properties = {}) {
    open_.push_back(bytes.size());
    std::string joined;
    for (const std::string& property : properties) joined += property;
    bytes += Number(0, 4) + Number(properties.size(), 4) + Number(joined.size(), 4) +
             Number(name.size(), 1) + name + joined;
  }
  void Close(bool had_children) {
    if (had_children) bytes += std::string(13, '\0');
    bytes.replace(open_.back(), 4, Number(bytes.size(), 4));
    open_.pop_back();
  }
  void Leaf(const std::string& name, const std::vector<std::string>& properties) {
    Open(name, properties);
    Close(false);
  }

 private:
  std::vector<std::size_t> open_;
};

std::string Models(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& child_parent) {
  FbxRecords fbx;
  fbx.Open("Objects");
  for (const std::uint64_t id : {1, 2, 3})
    fbx.Leaf("Model", {FbxRecords::Id(id), FbxRecords::Text("m"), FbxRecords::Text("Null")});
  fbx.Close(true);
  fbx.Open("Connections");
  for (const auto& [child, parent] : child_parent) {
    fbx.Leaf("C", {FbxRecords::Text("OO"), FbxRecords::Id(child), FbxRecords::Id(parent)});
  }
  fbx.Close(true);
  return fbx.bytes + std::string(200, '\0');
}

absl::StatusCode CodeOf(const std::string& bytes) {
  return ImportFile(testing::WriteFile("x.fbx", bytes)).status().code();
}

TEST(FbxImport, RefusesCyclesAndSeveralParents) {
  EXPECT_EQ(CodeOf(Models({{1, 0}, {2, 1}, {1, 2}})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(Models({{2, 3}, {3, 2}})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(Models({{3, 1}, {3, 2}})), absl::StatusCode::kInvalidArgument);
}

TEST(FbxImport, RefusesDeepNesting) {
  FbxRecords fbx;
  for (int i = 0; i < 100'000; ++i) fbx.Open("A");
  for (int i = 0; i < 100'000; ++i) fbx.Close(true);
  EXPECT_EQ(CodeOf(fbx.bytes + std::string(200, '\0')), absl::StatusCode::kInvalidArgument);
  std::string ascii = "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n";
  for (int i = 0; i < 100'000; ++i) ascii += "A: {\n";
  EXPECT_EQ(CodeOf(ascii), absl::StatusCode::kInvalidArgument);
}

TEST(FbxImport, SurvivesFlippedBytes) {
  NEED_MAYA_OR_SKIP();
  std::ifstream in(MayaPath("7700_binary.fbx"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    std::string bent = whole;
    for (int i = 0; i <= round % 8; ++i) bent[random() % bent.size()] = static_cast<char>(random());
    const absl::StatusCode code = CodeOf(bent);
    EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kInvalidArgument);
  }
}

// A quad on one bone, which tests add to.
struct Quad {
  FbxWriter file;
  FbxWriter::Id bone = file.AddModel("root", "LimbNode", 0);
  FbxWriter::Id model;
  FbxWriter::Id mesh;

  explicit Quad(const FbxWriter::Properties& properties = {})
      : model(file.AddModel("strip", "Mesh", 0, properties)),
        mesh(file.AddMesh(model, {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0}, {0, 1, 2, -4})) {}

  void Bind(const std::vector<double>& weights = {1, 1, 1, 1}, const std::string& method = "") {
    const std::vector<double> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    file.AddSkin(mesh,
                 {{.joint = bone,
                   .vertices = {0, 1, 2, 3},
                   .weights = weights,
                   .transform = identity,
                   .link = identity}},
                 method);
  }
  // A shape whose percentage runs from 0 to 100 in a second.
  void AddSmile(bool in_between) {
    std::vector<FbxWriter::Target> targets;
    if (in_between) targets.push_back({.percent = 50, .vertices = {1}, .offsets = {0, 0, 0.75}});
    targets.push_back({.vertices = {1, 3}, .offsets = {0, 0, 1, 0.5, 0, 0}});
    const FbxWriter::Id smile = file.AddBlendShape(mesh, "smile", 25, targets);
    const FbxWriter::Id layer = file.AddLayer(file.AddStack("Take", 0, 1), "Base");
    file.Animate(layer, smile, "DeformPercent",
                 {{"DeformPercent", {{.seconds = 0, .value = 0}, {.seconds = 1, .value = 100}}}});
  }
  absl::StatusOr<ImportedScene> Import(const ImportOptions& options = {}) const {
    return ImportFile(testing::WriteFile("x.fbx", file.Binary()), options);
  }
};

bool Says(const ImportedScene& scene, Severity severity, const std::string& words) {
  return std::ranges::any_of(scene.problems, [&](const Problem& problem) {
    return problem.severity == severity && problem.message.find(words) != std::string::npos;
  });
}

TEST(FbxImport, ConstraintsOfClipFilesAreReported) {
  Quad walk;
  walk.Bind({1, .5, 1, 1});
  walk.AddSmile(false);
  walk.file.AddConstraint(walk.bone, walk.model);
  const auto clips = ImportClips(testing::WriteFile("walk.fbx", walk.file.Binary()));
  ASSERT_TRUE(clips.ok()) << clips.status();
  Quad quad;
  quad.Bind();
  auto hero = quad.Import();
  ASSERT_TRUE(hero.ok()) << hero.status();
  ASSERT_TRUE(AddClips(*clips, *hero).ok());
  EXPECT_TRUE(Says(*hero, Severity::kWarning, "1 constraint, which is not evaluated"));
  EXPECT_FALSE(Says(*hero, Severity::kWarning, "normalised")) << "weights of its mesh do not count";
}

TEST(FbxImport, NormalisesAndReportsWeights) {
  Quad quad;
  quad.Bind({1, .5, 1, 1});
  const auto scene = quad.Import();
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.meshes.at(0).skin.influence_weights, std::vector<float>({1, 1, 1, 1}));
  EXPECT_TRUE(
      Says(*scene, Severity::kWarning, "weights of 1 vertex normalised, which summed to 0.5"));
}

TEST(FbxImport, ReportsDualQuaternionSkinning) {
  for (const char* method : {"DualQuaternion", "Blend"}) {
    Quad quad;
    quad.Bind({1, 1, 1, 1}, method);
    const auto scene = quad.Import();
    ASSERT_TRUE(scene.ok()) << scene.status();
    EXPECT_TRUE(Says(*scene, Severity::kInfo, "dual quaternion")) << method;
  }
}

TEST(FbxImport, ReportsSkinnedMeshWhoseNodeMoves) {
  Quad moved({FbxWriter::Property("Lcl Translation", "Lcl Translation", {0, 3, 0})});
  moved.Bind();
  EXPECT_TRUE(Says(moved.Import().value(), Severity::kWarning, "has moved since the bind"));
  Quad animated;
  animated.Bind();
  EXPECT_FALSE(Says(animated.Import().value(), Severity::kWarning, "Maya"));
  const FbxWriter::Id layer = animated.file.AddLayer(animated.file.AddStack("Take", 0, 1), "Base");
  animated.file.Animate(layer, animated.model, "Lcl Translation",
                        {{"X", {{.seconds = 0, .value = 0}, {.seconds = 1, .value = 5}}}});
  EXPECT_TRUE(Says(animated.Import().value(), Severity::kWarning, "is animated"));
}

TEST(FbxImport, FaceNamesEachVertexOnce) {
  Quad quad;
  quad.Bind();
  const FbxWriter::Id model = quad.file.AddModel("hat", "Mesh", quad.bone);
  quad.file.AddMesh(model, {0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 5, 5}, {0, 1, 1, -3, 0, 0, -2, 0, -2});
  const auto scene = quad.Import();
  ASSERT_TRUE(scene.ok()) << scene.status();
  const Mesh& hat = scene->rig.meshes.at(1);
  EXPECT_EQ(hat.vertices(), 4u) << "no face uses the last";
  EXPECT_EQ(hat.face_vertices, std::vector<std::uint32_t>({0, 1, 2}));
  EXPECT_TRUE(Says(*scene, Severity::kInfo, "2 faces name a vertex twice"));
  EXPECT_TRUE(Says(*scene, Severity::kWarning, "1 point or line"));
}

TEST(FbxImport, BonesAreJointsWithoutSkin) {
  const Quad quad;
  EXPECT_THAT(std::string(quad.Import().status().message()), HasSubstr("no mesh has a skin"));
  const auto scene = quad.Import({.allow_no_skin = true});
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_EQ(scene->rig.joints.size(), 1u);
  EXPECT_EQ(scene->rig.joints[0].name, "root");
  EXPECT_TRUE(scene->rig.meshes.at(0).skin.empty());
}

TEST(FbxImport, TakeWithoutTimesLastsFromFirstKey) {
  Quad quad;
  quad.Bind();
  const FbxWriter::Id layer = quad.file.AddLayer(quad.file.AddStack("Take", 0, 0), "Base");
  quad.file.Animate(layer, quad.bone, "Lcl Translation",
                    {{"X", {{.seconds = 2, .value = 7}, {.seconds = 3, .value = 9}}}});
  const auto scene = quad.Import();
  ASSERT_TRUE(scene.ok()) << scene.status();
  const auto clip = SampleClip(*scene, 0, {.fps = 2});
  ASSERT_TRUE(clip.ok()) << clip.status();
  ASSERT_EQ(clip->frames, 3u);
  EXPECT_FLOAT_EQ(clip->joint_transforms[3], 7);
  EXPECT_FLOAT_EQ(clip->joint_transforms[12 + 3], 8);
}

TEST(FbxImport, RefusesShapesBeyondFloat) {
  Quad quad;
  quad.Bind();
  quad.file.AddBlendShape(quad.mesh, "smile", 1e300, {{.vertices = {1}, .offsets = {0, 0, 1}}});
  EXPECT_THAT(std::string(quad.Import().status().message()),
              HasSubstr("morph target 'smile': its weight leaves the range of float32"));
  for (const std::size_t wrong : {0, 1}) {
    Quad in_between;
    in_between.Bind();
    std::vector<FbxWriter::Target> targets = {
        {.percent = 50, .vertices = {1}, .offsets = {0, 0, 1}},
        {.vertices = {1}, .offsets = {0, 0, 2}}};
    targets[wrong].offsets[2] = 1e300;
    in_between.file.AddBlendShape(in_between.mesh, "smile", 0, targets);
    EXPECT_THAT(std::string(in_between.Import().status().message()),
                HasSubstr("node 'strip': positions, normals, morph targets or inverse binds leave"))
        << wrong;
  }
}

TEST(FbxImport, RefusesOtherVersionsByTheirNumber) {
  const std::string header("Kaydara FBX Binary  \0\x1a\0\xd0\x07\0\0", 27);  // 2000
  const auto scene = ImportFile(testing::WriteFile("x.fbx", header + std::string(200, 'x')));
  EXPECT_THAT(std::string(scene.status().message()),
              HasSubstr("FBX: version 2000, need 3000 to 7700"));
}

TEST(FbxImport, ReadsBlendShapesAndTheirKeys) {
  const auto scene = [] {
    Quad quad;
    quad.Bind();
    quad.AddSmile(false);
    return quad.Import();
  }();
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_EQ(scene->rig.controls.size(), 1u);
  EXPECT_EQ(scene->rig.controls[0].name, "smile");
  const Mesh& mesh = scene->rig.meshes.at(0);
  ASSERT_EQ(mesh.shapes.size(), 1u);
  EXPECT_EQ(mesh.shapes[0].control, "smile");
  const ShapeTarget& target = mesh.shapes[0].targets.at(0);
  EXPECT_EQ(target.weight, 1);
  ASSERT_EQ(target.vertices.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const float* point = &mesh.positions[target.vertices[i] * 3];
    const std::vector<float> offset(&target.offsets[i * 3], &target.offsets[i * 3] + 3);
    const bool second = point[0] == 1 && point[1] == 0;
    EXPECT_EQ(offset, second ? std::vector<float>({0, 0, 1}) : std::vector<float>({0.5f, 0, 0}));
  }
  const auto clip = SampleClip(*scene, 0, {.fps = 4});
  ASSERT_TRUE(clip.ok()) << clip.status();
  ASSERT_EQ(clip->controls.size(), 5u);
  for (std::size_t f = 0; f < 5; ++f) {
    EXPECT_NEAR(clip->controls[f], 0.25 * static_cast<double>(f), 1e-6);
  }
}

TEST(FbxImport, InBetweensAreTargetsOfOneControl) {
  const auto scene = [] {
    Quad quad;
    quad.Bind();
    quad.AddSmile(true);
    return quad.Import();
  }();
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_EQ(scene->rig.controls.size(), 1u);
  EXPECT_EQ(scene->rig.controls[0].default_value, 0.25f);
  const Shape& shape = scene->rig.meshes.at(0).shapes.at(0);
  ASSERT_EQ(shape.targets.size(), 2u);
  EXPECT_EQ(shape.targets[0].weight, 0.5f);
  EXPECT_EQ(shape.targets[0].vertices, std::vector<std::uint32_t>({1}));
  EXPECT_EQ(shape.targets[0].offsets, std::vector<float>({0, 0, 0.75f}));
  EXPECT_EQ(shape.targets[1].weight, 1);
  EXPECT_EQ(shape.targets[1].vertices, std::vector<std::uint32_t>({1, 3}));
}

TEST(FbxImport, RefusesCyclesInAscii) {
  const std::string ascii =
      "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n}\nObjects:  {\n Model: 1, \"Model::a\", "
      "\"Null\" {\n }\n"
      " Model: 2, \"Model::b\", \"Null\" {\n }\n}\nConnections:  {\n C: \"OO\",1,2\n C: "
      "\"OO\",2,1\n}\n";
  EXPECT_EQ(CodeOf(ascii), absl::StatusCode::kInvalidArgument);
}

TEST(FbxImport, RefusesAFileWithoutSkin) {
  const auto scene = ImportFile(testing::WriteFile("plain.fbx", Models({{1, 0}})));
  EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sinew::client
