// Binding a field: threads, progress, degenerate rigs.
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "core/base/table_io.h"
#include "core/deform/implicit/field.h"
#include "core/deform/method/fields.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using testing::AskField;
using testing::BendPose;
using testing::BindField;
using testing::Cloud;
using testing::FieldInPose;
using testing::FieldPoint;
using testing::RestPose;

TEST(LimbField, SameBitsForAnyThreadCount) {
  const Rig rig = testing::TubeRig({.joints = 20, .length = 40, .radius = 0.5});
  const auto saved = [](const LimbField& field) {
    TableWriter tables;
    SaveFields(tables, "", field);
    return tables.Finish();
  };
  Task alone({.parallel = false}), all;
  const auto a = testing::ValueOrDie(LimbField::Bind(rig, Weld(rig), 50, alone));
  const auto b = testing::ValueOrDie(LimbField::Bind(rig, Weld(rig), 50, all));
  EXPECT_EQ(saved(a), saved(b));
  EXPECT_EQ(a.parts(), 20u);
}

TEST(LimbField, CancellableAndReportsProgress) {
  const Rig rig = testing::TubeRig({.joints = 20, .length = 40, .radius = 0.5});
  double last = 0;
  Task task({.progress = [&](double done) { last = done; }});
  task.SetTotal(LimbField::Work(rig, 50));
  EXPECT_TRUE(LimbField::Bind(rig, Weld(rig), 50, task).ok());
  EXPECT_NEAR(last, 1, 1e-9);
  std::stop_source stop;
  Task stopped({.stop = stop.get_token(), .progress = [&](double) { stop.request_stop(); }});
  stopped.SetTotal(LimbField::Work(rig, 50));
  EXPECT_EQ(LimbField::Bind(rig, Weld(rig), 50, stopped).status().code(),
            absl::StatusCode::kCancelled);
}

// BindField checks the tables, whose sizes and reaches must be near the unit.
TEST(LimbField, BindsLimbsOfAnySize) {
  for (const float scale : {1e-9f, 1e-3f, 1e-1f, 1e2f, 1e3f, 1e5f}) {
    RigSource source =
        testing::TubeSource({.joints = 5, .length = 10, .weights = testing::TubeWeights::kRigid});
    for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
      Vec3f& p = source.mesh.positions[v];
      if (source.influences.bindings[source.influences.offsets[v]] == 4) p.y *= scale, p.z *= scale;
    }
    const LimbField field = BindField(testing::MakeRig(std::move(source)));
    EXPECT_GE(field.parts(), 3u) << scale;
    EXPECT_GT(field.unit(), 0.1) << scale;
    EXPECT_LT(field.unit(), 10) << scale;
  }
}

TEST(LimbField, DegenerateRigsStayFinite) {
  for (const auto& [name, rig] : testing::AllRigs()) {
    SCOPED_TRACE(name);
    const LimbField field = BindField(rig);
    EXPECT_GT(field.unit(), 0);
    ASSERT_EQ(field.PartsOfVertices(rig).size(), rig.vertices());
    const double size = rig.mesh().diagonal();
    const auto points = Cloud(rig.mesh().centre(), {size, size, size}, 320);
    for (const auto& pose : {RestPose(rig), BendPose(rig, 60)}) {
      FieldInPose posed(field, pose);
      if (field.parts() == 0) continue;
      for (const FieldPoint& at : AskField(*posed, points)) {
        ASSERT_TRUE(std::isfinite(at.value));
        ASSERT_TRUE(std::isfinite(Dot(at.gradient, at.gradient)));
      }
    }
  }
}

}  // namespace
}  // namespace sinew
