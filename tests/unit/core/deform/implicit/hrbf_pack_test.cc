// The kernel's sum equals the fit, in a form suited to float.
#include "core/deform/implicit/hrbf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/hrbf_kernel.h"
#include "core/deform/implicit/parts.h"
#include "core/rig/layout.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

struct Packed {
  explicit Packed(const Hrbf& fit) { AppendPacked(fit, centres, polynomial); }

  // The fit with its coefficients rounded to float.
  Hrbf Rounded() const {
    Hrbf fit;
    for (std::size_t k = 0; k < centres.size(); k += kCentreFloats) {
      const float* c = centres.data() + k;
      fit.centres.push_back({double{c[0]}, double{c[1]}, double{c[2]}});
      fit.alpha.push_back(-2 * double{polynomial[14]} * double{c[3]});
      fit.beta.push_back((1.0 / 3) * Vec3d{double{c[4]}, double{c[5]}, double{c[6]}});
    }
    return fit;
  }
  HrbfValue At(const Vec3d& x) const {
    alignas(64) float points[3][kLanes], raw[4][kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
      points[0][i] = static_cast<float>(x.x);
      points[1][i] = static_cast<float>(x.y);
      points[2][i] = static_cast<float>(x.z);
    }
    RawHrbfKernel(
        {centres.data(), polynomial.data(), centres.size() / kCentreFloats, nullptr, nullptr},
        points[0], raw[0]);
    return {double{raw[0][3]}, {double{raw[1][3]}, double{raw[2][3]}, double{raw[3][3]}}};
  }

  AlignedVector<float> centres, polynomial;
};

// The sum as it is written, in float.
double SumInFloat(const Hrbf& fit, const Vec3d& x) {
  float sum = 0;
  for (std::size_t k = 0; k < fit.size(); ++k) {
    const Vec3f d = ToFloat(x - fit.centres[k]), b = ToFloat(3.0 * fit.beta[k]);
    const float l2 = d.x * d.x + d.y * d.y + d.z * d.z;
    const float bd = b.x * d.x + b.y * d.y + b.z * d.z;
    sum += std::sqrt(l2) * (static_cast<float>(fit.alpha[k]) * l2 + bd);
  }
  return double{sum};
}

TEST(PackedHrbf, MatchesFitWithLessCancellation) {
  double error = 0, error_of_sum = 0;
  for (const Rig& rig : {testing::CanonicalLimb(), testing::MakeRig(testing::PalmSource())}) {
    const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
    for (const LimbBone& bone : MakeLimbBones(rig, surface)) {
      const PartFit part = FitPart(surface, bone, 50, Task());
      const Packed packed(part.hrbf);
      const Hrbf rounded = packed.Rounded();
      ASSERT_EQ(rounded.size(), part.hrbf.size());
      Vec3d middle, half;
      for (std::size_t i = 0; i < 3; ++i) {
        (i == 0   ? middle.x
         : i == 1 ? middle.y
                  : middle.z) = 0.5 * (part.box.least[i] + part.box.largest[i]);
        (i == 0   ? half.x
         : i == 1 ? half.y
                  : half.z) = 0.5 * (part.box.largest[i] - part.box.least[i]);
      }
      for (const Vec3d& x : testing::Cloud(middle, half, 2000)) {
        const HrbfValue want = rounded.At(x), got = packed.At(x);
        if (std::abs(want.f) > 1) continue;  // beyond the compact field
        error = std::max(error, std::abs(got.f - want.f));
        error_of_sum = std::max(error_of_sum, std::abs(SumInFloat(rounded, x) - want.f));
        EXPECT_LT(Length(got.gradient - want.gradient), 1e-3);
        EXPECT_NEAR(got.f, part.hrbf.Value(x), 1e-3) << "coefficients as rounded";
      }
    }
  }
  EXPECT_LT(error, error_of_sum / 8);
  EXPECT_LT(error, 2e-4);
}

// Each power of the split separately.
TEST(PackedHrbf, OneCentreEqualsItsTerm) {
  const Vec3d c = {0.5, -0.25, 0.125};
  for (const auto& [alpha, beta] :
       {std::pair<double, Vec3d>{2, {}}, {0, {1, 0, 0}}, {0, {0, 1, 0}}, {-1, {0.5, -2, 3}}}) {
    const Hrbf fit = {{c}, {alpha}, {beta}};
    const Packed packed(fit);
    for (const Vec3d& x : testing::Cloud(c, {2, 2, 2}, 100)) {
      const HrbfValue want = fit.At(x), got = packed.At(x);
      EXPECT_NEAR(got.f, want.f, 1e-4);
      EXPECT_LT(Length(got.gradient - want.gradient), 1e-4);
    }
    EXPECT_NEAR(packed.At(c).f, 0, 1e-6) << "the centre itself";
    EXPECT_LT(Length(packed.At(c).gradient), 1e-6);
  }
}

}  // namespace
}  // namespace sinew
