// Bend and twist tables of the canonical cylinder: volumes, overlap, bulge, collapse and edges per
// method, compared with the figures of two independent programs.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "core/deform/implicit/implicit.h"
#include "core/surface/rig_surface.h"
#include "tests/unit/core/deform/implicit/limb_figures.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using testing::LimbFigures;
using testing::LimbProjection;
using testing::RoundedLimb;

class BendTable : public ::testing::Test {
 protected:
  BendTable() : limb_(testing::CanonicalCylinder(), rest_) {}

  std::vector<Affine> Bend(double degrees) const { return testing::BendPose(limb_.rig(), degrees); }
  std::vector<AffineD> Skin(std::span<const Affine> pose) const {
    return testing::SkinMatrices(limb_.rig(), pose);
  }
  LimbFigures Measure(std::span<const Affine> pose, std::span<const Vec3d> points) const {
    return testing::MeasureLimb(limb_.rig(), Skin(pose), points);
  }
  template <class Method>
  LimbFigures Skinned(std::span<const Affine> pose) const {
    return Measure(pose, testing::RunMethod<Method>(limb_.rig(), {}, pose).points);
  }

  // After dual quaternions.
  std::vector<Vec3d> RunImplicit(const ImplicitParams& params, std::span<const Affine> pose) const {
    const auto start = testing::RunMethod<Dqs>(limb_.rig(), {}, pose);
    Task task;
    const Implicit implicit = testing::ValueOrDie(Implicit::Bind(
        {limb_.rig(), *start.layout, RigSurface(limb_.rig(), *start.layout)}, params, task));
    PosedRig posed;
    posed.joints = pose;
    return testing::FileOrder(*start.layout,
                              testing::RunBound(implicit, *start.layout, posed, start.blocks));
  }

  const RoundedLimb rest_{std::array<AffineD, 2>{}};
  LimbProjection limb_;
};

struct Row {
  double degrees, signed_volume, whole, overlap, bulge, collapse, edge_rms, edge_max;
};

void Expect(const LimbFigures& got, const Row& want, double volume, double edge) {
  EXPECT_NEAR(got.signed_volume, want.signed_volume, volume) << want.degrees;
  EXPECT_NEAR(got.whole, want.whole, volume) << want.degrees;
  EXPECT_NEAR(got.bulge, want.bulge, 2e-3) << want.degrees;
  EXPECT_NEAR(got.collapse, want.collapse, 4e-3) << want.degrees;
  EXPECT_NEAR(got.edge_rms, want.edge_rms, edge) << want.degrees;
  EXPECT_NEAR(got.edge_max, want.edge_max, 10 * edge) << want.degrees;
}

TEST_F(BendTable, LinearBlend) {
  for (const Row& row : {Row{60, .9869, .9869, 0, 1.015, .750, .121, 1.61},
                         Row{90, .9738, .9701, .0038, 1.010, .481, .135, 1.77},
                         Row{120, .9607, .9304, .030, 1.005, .097, .134, 1.84}}) {
    const LimbFigures got = Skinned<Lbs>(Bend(row.degrees));
    Expect(got, row, 6e-4, 3e-3);
    EXPECT_NEAR(got.overlap, row.overlap, 1e-3);
  }
}

TEST_F(BendTable, DualQuaternions) {
  for (const Row& row : {Row{60, .9997, .9998, 0, 1.067, .860, .125, 1.80},
                         Row{90, .9994, .9979, .0015, 1.088, .686, .173, 2.23},
                         Row{120, .9989, .9814, .018, 1.102, .237, .159, 2.71}}) {
    const LimbFigures got = Skinned<Dqs>(Bend(row.degrees));
    Expect(got, row, 6e-4, 3e-3);
    EXPECT_NEAR(got.overlap, row.overlap, 1e-3);
  }
}

TEST_F(BendTable, ImplicitWithClosedFormFields) {
  for (const Row& row : {Row{60, .9970, .9970, 0, 1.000, .87, .127, 1.79},
                         Row{90, .9893, .9893, 0, 1.002, .70, .209, 2.22},
                         Row{120, .9670, .9670, 0, 1.002, .46, .269, 2.70}}) {
    const auto pose = Bend(row.degrees);
    const auto run = limb_.Run<Dqs>(pose, RoundedLimb(Skin(pose)));
    const LimbFigures got = Measure(pose, run.points);
    EXPECT_NEAR(got.signed_volume, row.signed_volume, 5e-4);
    // Smoothing rounds the edge of the fold, which is then a little hollow.
    EXPECT_NEAR(got.whole, testing::ExactUnion(row.degrees), row.degrees < 120 ? 3e-3 : 4e-3);
    EXPECT_NEAR(got.whole, row.whole, 5e-4);
    EXPECT_LT(got.overlap, 3e-4);
    EXPECT_NEAR(got.bulge, row.bulge, 3e-3);
    EXPECT_NEAR(got.collapse, row.collapse, 0.02);
    EXPECT_NEAR(got.edge_rms, row.edge_rms, 0.01);
    EXPECT_NEAR(got.edge_max, row.edge_max, 0.05);
    EXPECT_GT(got.edge_min, 0.005);
    EXPECT_EQ(run.Count(VertexStatus::kMoveLimit), 0u);
  }
}

// The stage's own fields, fitted to samples of the mesh.
TEST_F(BendTable, ImplicitWithFittedFields) {
  for (const std::uint32_t samples : {50u, 100u}) {
    for (const Row& row : {Row{60, .9966, .9966, 0, 1.013, .9, .155, 1.79},
                           Row{90, .9880, .9880, 0, 1.013, .733, .205, 2.22},
                           Row{120, .9644, .9644, 0, 1.013, .529, .246, 2.70}}) {
      const auto pose = Bend(row.degrees);
      const LimbFigures got = Measure(pose, RunImplicit({.samples = samples}, pose));
      EXPECT_NEAR(got.whole, row.whole, 3e-3);
      EXPECT_LT(got.overlap, 1e-3);
      EXPECT_LT(got.bulge, 1.03);
      EXPECT_NEAR(got.edge_rms, row.edge_rms, 0.03);
      EXPECT_GT(got.edge_min, 0.01);
    }
  }
}

TEST_F(BendTable, Twist) {
  struct Twist {
    double degrees, lbs_volume, lbs_radius, volume, radius, lbs_rms, dqs_rms;
  };
  for (const Twist& row :
       {Twist{45, .9848, .924, .9999, 1, .056, .056}, Twist{90, .9483, .707, .9995, 1, .116, .124},
        Twist{135, .9117, .383, .9938, .9, .168, .181},
        Twist{179, .8965, .009, .9925, .9, .374, .223}}) {
    const auto pose = testing::TwistPose(limb_.rig(), row.degrees);
    const LimbFigures lbs = Skinned<Lbs>(pose), dqs = Skinned<Dqs>(pose);
    EXPECT_NEAR(lbs.signed_volume, row.lbs_volume, 5e-4);
    EXPECT_NEAR(lbs.collapse, row.lbs_radius, 1e-3);
    EXPECT_NEAR(lbs.edge_rms, row.lbs_rms, 2e-3);
    EXPECT_NEAR(dqs.collapse, 1, 1e-3);
    EXPECT_NEAR(dqs.edge_rms, row.dqs_rms, 2e-3);
    const auto run = limb_.Run<Lbs>(pose, RoundedLimb(Skin(pose)));
    const LimbFigures got = Measure(pose, run.points);
    EXPECT_NEAR(got.signed_volume, row.volume, 1e-3);
    // Where rings turn most against the next, their moves point apart, and mending takes a tenth.
    EXPECT_GT(got.collapse, row.radius - 0.005);
  }
}

TEST_F(BendTable, ClosedForms) {
  const double w = 9.0 / 35;  // integral of the weights' product, smoothstep over -1 to 1
  for (const double degrees : {30.0, 60.0, 90.0, 120.0, 150.0}) {
    const double theta = degrees * std::numbers::pi / 180;
    const LimbFigures bend = Skinned<Lbs>(Bend(degrees));
    EXPECT_NEAR(bend.signed_volume, 1 - (1 - std::cos(theta)) * w / 10, 1e-3);
    const LimbFigures twist = Skinned<Lbs>(testing::TwistPose(limb_.rig(), degrees));
    const double half = std::sin(theta / 2);
    EXPECT_NEAR(twist.signed_volume, 1 - 4 * half * half * w / 10, 1e-3);
    EXPECT_NEAR(twist.collapse, std::cos(theta / 2), 1e-3);
    for (const auto& pose : {Bend(degrees), testing::TwistPose(limb_.rig(), degrees)}) {
      EXPECT_NEAR(Skinned<Dqs>(pose).signed_volume, 1, 2e-3);
    }
  }
}

}  // namespace
}  // namespace sinew
