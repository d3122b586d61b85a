// Laws of vertices that are one point: the two sides of a texture seam, and triangles that share no
// vertices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/laws/law_frame.h"
#include "tests/laws/law_recipes.h"
#include "tests/support/random.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::Frame;
using testing::Random;

using Row = std::vector<std::pair<std::uint32_t, float>>;

Row RowOf(const InfluenceSource& influences, std::uint32_t v) {
  Row row;
  for (std::uint64_t k = influences.offsets[v]; k < influences.offsets[v + 1]; ++k) {
    row.emplace_back(influences.bindings[k], influences.weights[k]);
  }
  return row;
}

// Appends a vertex at the place of v.
std::uint32_t AddVertex(RigSource& source, std::uint32_t v, const Row& row) {
  source.mesh.positions.push_back(Vec3f(source.mesh.positions[v]));
  for (const auto& [binding, weight] : row) {
    source.influences.bindings.push_back(binding);
    source.influences.weights.push_back(weight);
  }
  source.influences.offsets.push_back(source.influences.bindings.size());
  ++source.mesh.parts[0].vertex_count;
  return static_cast<std::uint32_t>(source.mesh.positions.size() - 1);
}

// Moves weight between neighbours in the row, each changing by at most `most`.
Row Rounded(Row row, double most, Random& random) {
  if (row.size() == 1) {
    row.emplace_back(row[0].first == 0 ? 1 : 0, 0.0F);
  }
  for (std::size_t k = 0; k + 1 < row.size(); k += 2) {
    const double change = std::clamp(most * (2 * random.Next() - 1), -double{row[k].second},
                                     double{row[k + 1].second});
    row[k].second = static_cast<float>(double{row[k].second} + change);
    row[k + 1].second = static_cast<float>(double{row[k + 1].second} - change);
  }
  return row;
}

struct Pair {
  std::uint32_t a, b;
};

struct SeamRig {
  Rig rig;
  std::vector<Pair> pairs;  // the two sides of the seam
};

// A tube cut open along its first line of vertices, with weights on the second side that differ by
// at most `most`.
SeamRig Seam(const testing::TubeOptions& tube, double most) {
  RigSource source = testing::TubeSource(tube);
  Random random(7);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < tube.rings; ++i) {
    const auto a = static_cast<std::uint32_t>(i * tube.around);
    pairs.push_back({a, AddVertex(source, a, Rounded(RowOf(source.influences, a), most, random))});
  }
  for (std::size_t f = 0; f + 1 < source.mesh.face_offsets.size(); ++f) {
    const auto face = std::span(source.mesh.face_vertices)
                          .subspan(source.mesh.face_offsets[f],
                                   source.mesh.face_offsets[f + 1] - source.mesh.face_offsets[f]);
    // Only faces of the last strip have a corner of the last line.
    const bool last = std::ranges::any_of(
        face, [&](std::uint32_t v) { return v % tube.around == tube.around - 1; });
    for (std::uint32_t& v : face) {
      if (last && v % tube.around == 0) v = pairs[v / tube.around].b;
    }
  }
  return {testing::MakeRig(std::move(source)), std::move(pairs)};
}

// Every triangle has its own vertices.
SeamRig Soup(const testing::TubeOptions& tube) {
  RigSource source = testing::TubeSource(tube);
  const InfluenceSource influences = std::exchange(source.influences, InfluenceSource());
  source.influences.offsets = {0};
  const std::vector<Vec3f> positions = source.mesh.positions;
  source.mesh.positions.clear();
  source.mesh.parts[0].vertex_count = 0;
  std::vector<Pair> pairs;
  for (std::uint32_t& v : source.mesh.face_vertices) {
    const auto own = static_cast<std::uint32_t>(source.mesh.positions.size());
    source.mesh.positions.push_back(positions[v]);
    for (const auto& [binding, weight] : RowOf(influences, v)) {
      source.influences.bindings.push_back(binding);
      source.influences.weights.push_back(weight);
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
    ++source.mesh.parts[0].vertex_count;
    pairs.push_back({v, own});
    v = own;
  }
  return {testing::MakeRig(std::move(source)), std::move(pairs)};
}

const std::vector<testing::TubeOptions>& Tubes() {
  static const auto* const kTubes = new std::vector<testing::TubeOptions>{
      {.rings = 25, .around = 12, .joints = 3},
      {.rings = 25, .around = 12, .joints = 3, .weights = testing::TubeWeights::kRigid},
      {.rings = 25, .around = 12, .joints = 5, .weights = testing::TubeWeights::kFour},
  };
  return *kTubes;
}

std::vector<std::vector<Affine>> Poses(const Rig& rig) {
  return {testing::BendPose(rig, 80), testing::TwistPose(rig, 120)};
}

class SeamLaws : public ::testing::TestWithParam<std::string> {
 protected:
  static Deformer Bound(const Rig& rig, const std::string& text) {
    const auto recipe = ParseRecipe(text);
    EXPECT_TRUE(recipe.ok()) << recipe.status();
    Task task;
    auto deformer = Deformer::Bind(rig, *recipe, task);
    EXPECT_TRUE(deformer.ok()) << deformer.status();
    return *std::move(deformer);
  }
};

double Gap(const Deformer& deformer, const SeamRig& seam, const std::vector<Affine>& pose) {
  const Frame frame = testing::Must(deformer, {.joints = pose});
  double gap = 0;
  for (const auto& [a, b] : seam.pairs) {
    gap = std::max(gap, Distance(ToDouble(frame.positions[a]), ToDouble(frame.positions[b])));
  }
  return gap;
}

TEST_P(SeamLaws, OpenNoSeamThatLinearBlendingKeepsClosed) {
  for (const testing::TubeOptions& tube : Tubes()) {
    for (const double most : {1e-6, 1e-5, 1e-4, 1e-3}) {
      const SeamRig seam = Seam(tube, most);
      const Deformer deformer = Bound(seam.rig, GetParam()), linear = Bound(seam.rig, "lbs");
      for (const auto& pose : Poses(seam.rig)) {
        EXPECT_LE(Gap(deformer, seam, pose),
                  2 * Gap(linear, seam, pose) + 2e-6 * seam.rig.mesh().diagonal())
            << tube.joints << " joints, weights " << most << " apart";
      }
    }
  }
}

TEST_P(SeamLaws, NormalsAreEqualOnBothSides) {
  for (const testing::TubeOptions& tube : Tubes()) {
    for (const double most : {1e-6, 1e-4, 1e-3}) {
      const SeamRig seam = Seam(tube, most);
      const Deformer deformer = Bound(seam.rig, GetParam());
      for (const auto& pose : Poses(seam.rig)) {
        const Frame frame = testing::Must(deformer, {.joints = pose});
        for (const auto& [a, b] : seam.pairs) {
          ASSERT_LE(Distance(ToDouble(frame.normals[a]), ToDouble(frame.normals[b])),
                    20 * most + 1e-3)
              << tube.joints << " joints, weights " << most << " apart, vertex " << a;
        }
      }
    }
  }
}

TEST_P(SeamLaws, SeparateTrianglesFollowTheirMesh) {
  for (const testing::TubeOptions& tube : Tubes()) {
    const Rig rig = testing::TubeRig(tube);
    const SeamRig soup = Soup(tube);
    const Deformer together = Bound(rig, GetParam()), apart = Bound(soup.rig, GetParam());
    for (const auto& pose : Poses(rig)) {
      const Frame want = testing::Must(together, {.joints = pose});
      const Frame got = testing::Must(apart, {.joints = pose});
      double most = 0;
      for (const auto& [of_mesh, own] : soup.pairs) {
        most = std::max(most,
                        Distance(ToDouble(want.positions[of_mesh]), ToDouble(got.positions[own])));
      }
      EXPECT_LE(most, 1e-5 * rig.mesh().diagonal()) << tube.joints << " joints";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, SeamLaws, ::testing::ValuesIn(testing::LawRecipes()),
                         [](const auto& test) {
                           std::string name = std::to_string(test.index) + "_" + test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(SeamWeights, LinearBlendingUsesOwnWeights) {
  const SeamRig seam = Seam(Tubes()[0], 1e-3);
  ASSERT_NE(&seam.rig.influences(), &seam.rig.own_influences());
  Task task;
  const auto deformer = Deformer::Bind(seam.rig, *ParseRecipe("lbs"), task);
  ASSERT_TRUE(deformer.ok()) << deformer.status();
  const auto pose = testing::BendPose(seam.rig, 80);
  const Frame frame = testing::Must(*deformer, {.joints = pose});
  const std::vector<AffineD> skin = testing::SkinMatrices(seam.rig, pose);
  for (std::uint32_t v = 0; v < seam.rig.vertices(); ++v) {
    const Vec3d rest = ToDouble(seam.rig.mesh().positions()[v]);
    const auto bindings = seam.rig.own_influences().bindings(v);
    const auto weights = seam.rig.own_influences().weights(v);
    Vec3d want;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      want = want + weights[k] * Apply(skin[bindings[k]], rest);
    }
    EXPECT_LE(Distance(want, ToDouble(frame.positions[v])), 2e-6) << v;
  }
}

}  // namespace
}  // namespace sinew
