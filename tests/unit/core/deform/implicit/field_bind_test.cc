// Binding a field: errors, progress, saving, degenerate rigs.
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
using testing::CanonicalLimb;
using testing::Cloud;
using testing::FieldInPose;
using testing::FieldPoint;
using testing::RestPose;
using testing::SameBits;

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

TEST(LimbField, RoundTripsThroughTables) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  TableWriter writer;
  SaveFields(writer, "x.", field);
  const std::string bytes = writer.Finish();
  LimbField loaded;
  ASSERT_TRUE(LoadFields(testing::ValueOrDie(TableReader::Open(bytes)), "x.", loaded).ok());
  ASSERT_TRUE(loaded.Check(rig.joints()).ok());
  const auto points = Cloud({1, 1, 0}, {6, 4, 2}, 160);
  FieldInPose a(field, BendPose(rig, 80)), b(loaded, BendPose(rig, 80));
  EXPECT_TRUE(SameBits(AskField(*a, points), AskField(*b, points)));
}

// Sets element 0 of one member.
struct Spoil {
  std::string_view wanted;
  double value;
  template <class T>
  void operator()(std::string_view name, T& member, const auto&...) const {
    if (name != wanted) return;
    if constexpr (requires { member[0].m; }) {
      member[0].m[0] = value;
    } else if constexpr (requires { member[0]; }) {
      member[0] = static_cast<typename T::value_type>(value);
    } else {
      member = static_cast<T>(value);
    }
  }
};

TEST(LimbField, CheckRejectsDamagedTables) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  EXPECT_TRUE(field.Check(2).ok());
  EXPECT_EQ(field.Check(1).code(), absl::StatusCode::kDataLoss);
  const double nan = std::nan("");
  const std::pair<std::string_view, double> spoils[] = {
      {"field_joint", 7},         {"field_joint", 1},     {"field_to_joint", nan},
      {"field_reach", 0},         {"field_reach", nan},   {"field_box", nan},
      {"field_centre_offset", 1}, {"field_centres", nan}, {"field_figures", nan},
      {"field_unit", 0}};
  for (const auto& [name, value] : spoils) {
    LimbField spoilt = field;
    LimbField::Fields(spoilt, Spoil{name, value});
    EXPECT_EQ(spoilt.Check(2).code(), absl::StatusCode::kDataLoss) << name << " = " << value;
  }
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
