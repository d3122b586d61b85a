// field_operators.h - composition of two compact fields: union, clean union, blend and bulge.
//
// Each level set C of a gradient-based operator is the line hi = C down to an opening lo = k(C),
// then a scaled copy of a profile centred at (k, k). Sources: Gourmel et al. 2013; Barthe's arc,
// profile and openings as in the published implementation of Vaillant et al. 2013.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sinew {

// g(lo, hi), lo <= hi, and its derivatives.
struct Composed {
  double g = 0, d_lo = 0, d_hi = 0;
};

// An arc of a circle in a diamond-shaped opening that closes at kBlendInner; t in [0, 1], 1 =
// union. Closed form.
Composed BlendFields(double lo, double hi, double t);
inline constexpr double kBlendInner = 0.7;

// Union within an open parabola: equals max up to the surface at 0.5, smooth beyond. At most 1.
Composed CleanUnionFields(double lo, double hi);

// Profile y(s) = 1 - m e^(1 - 1/s) (1 - s) in polar form: rho is the distance in direction tan = s
// / y.
class BulgeProfile {
 public:
  static constexpr std::size_t kIntervals = 256;
  static constexpr std::size_t kTable = 2 * (kIntervals + 1);  // rho and its derivative
  // [kTable]; m in [0, 0.9].
  static std::vector<double> MakeTable(double m);
  // `table` must outlive the profile.
  explicit BulgeProfile(std::span<const double> table) : table_(table) {}
  double Rho(double tan, double* derivative = nullptr) const;

 private:
  std::span<const double> table_;
};

// Bulges on both sides of the contact lo = hi, where g = max. A diamond-shaped opening that closes
// at kBulgeInner. Not monotone.
Composed BulgeFields(double lo, double hi, double t, const BulgeProfile& profile);
inline constexpr double kBulgeInner = 0.55;

}  // namespace sinew
