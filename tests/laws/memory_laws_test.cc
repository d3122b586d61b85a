// Actual allocations of estimate and bind, against the estimate: every method, every asset, and
// rigs large enough to matter.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/laws/law_recipes.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::NamedRig;
using testing::TubeWeights;

// Allocations independent of the mesh: scheduler, cosine tables.
constexpr std::size_t kFixed = 1 << 20;

// Every vertex is influenced by every joint.
RigSource ManyInfluences() {
  constexpr std::size_t kJoints = 254;
  RigSource source = testing::TubeSource({.rings = 100, .around = 12, .joints = kJoints});
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    for (std::size_t j = 0; j < kJoints; ++j) {
      rows.bindings.push_back(static_cast<std::uint32_t>(j));
      rows.weights.push_back((j + v) % 2 == 0 ? 0.5f / kJoints : 1.5f / kJoints);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = std::move(rows);
  return source;
}

// Every face has its own corners and occurs twice.
RigSource SplitFaces() {
  RigSource source = testing::TubeSource({.rings = 60, .around = 30, .joints = 4});
  const MeshSource whole = source.mesh;
  const InfluenceSource rows = source.influences;
  MeshSource& mesh = source.mesh;
  mesh.positions.clear();
  mesh.face_offsets = {0};
  mesh.face_vertices.clear();
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t f = 0; f + 1 < whole.face_offsets.size(); ++f) {
    const std::size_t first = mesh.positions.size();
    for (std::uint32_t c = whole.face_offsets[f]; c < whole.face_offsets[f + 1]; ++c) {
      const std::uint32_t v = whole.face_vertices[c];
      mesh.positions.push_back(whole.positions[v]);
      for (std::uint64_t k = rows.offsets[v]; k < rows.offsets[v + 1]; ++k) {
        source.influences.bindings.push_back(rows.bindings[k]);
        source.influences.weights.push_back(rows.weights[k]);
      }
      source.influences.offsets.push_back(source.influences.bindings.size());
    }
    for (int twice = 0; twice < 2; ++twice) {
      for (std::size_t v = first; v < mesh.positions.size(); ++v) {
        mesh.face_vertices.push_back(static_cast<std::uint32_t>(v));
      }
      mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
    }
  }
  mesh.parts[0].vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.parts[0].face_count = static_cast<std::uint32_t>(mesh.face_offsets.size() - 1);
  return source;
}

RigSource ManyShapes() {
  RigSource source = testing::TubeSource({.rings = 200, .around = 50});
  source.controls = {{.name = "a"}};
  source.shapes = {{.control = 0, .targets = {}}};
  for (int t = 1; t <= 100; ++t) {
    ShapeTarget target;
    target.weight = static_cast<float>(t);
    for (std::uint32_t v = 0; v < source.mesh.positions.size(); ++v) {
      target.vertices.push_back(v);
      target.offsets.push_back({1, static_cast<float>(t), 0});
    }
    source.shapes[0].targets.push_back(std::move(target));
  }
  return source;
}

const std::vector<NamedRig>& Rigs() {
  static const auto* const kRigs = [] {
    auto* const rigs = new std::vector<NamedRig>(testing::AllRigs());
    rigs->push_back({"many_vertices", testing::TubeRig({.rings = 150,
                                                        .around = 60,
                                                        .joints = 20,
                                                        .length = 20,
                                                        .weights = TubeWeights::kFour})});
    rigs->push_back({"many_joints", testing::TubeRig({.rings = 600,
                                                      .around = 8,
                                                      .joints = 200,
                                                      .length = 50,
                                                      .weights = TubeWeights::kFour})});
    rigs->push_back({"many_influences", testing::MakeRig(ManyInfluences())});
    rigs->push_back({"many_shapes", testing::MakeRig(ManyShapes())});
    rigs->push_back({"split_faces", testing::MakeRig(SplitFaces())});
    rigs->push_back({"textured", testing::TexturedTube({.rings = 200, .around = 60})});
    return rigs;
  }();
  return *kRigs;
}

class MemoryLaws : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(MemoryLaws, BindMemoryIsWithinEstimate) {
  const Rig& rig = Rigs()[std::get<1>(GetParam())].rig;
  const auto recipe = ParseRecipe(std::get<0>(GetParam()));
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  Task task;
  BindEstimate estimate;
  const std::size_t estimating = testing::PeakOf([&] {
    const auto found = Deformer::Estimate(rig, *recipe, task);
    ASSERT_TRUE(found.ok()) << found.status();
    estimate = *found;
  });
  const std::size_t binding = testing::PeakOf([&] {
    const auto bound = Deformer::Bind(rig, *recipe, task);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_LE(bound->bytes(), estimate.bound_bytes + 4096);
  });
  EXPECT_LE(estimating, estimate.peak_bytes + kFixed);
  EXPECT_LE(binding, estimate.peak_bytes + kFixed);
}

std::string Readable(const ::testing::TestParamInfo<MemoryLaws::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + Rigs()[std::get<1>(info.param)].name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, MemoryLaws,
                         ::testing::Combine(::testing::ValuesIn(testing::LawRecipes()),
                                            ::testing::Range<std::size_t>(0, Rigs().size())),
                         Readable);

}  // namespace
}  // namespace sinew
