#include "tests/reference/field_reference.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::reference {
namespace {

// Members of a bound field by name.
struct Tables {
  std::vector<std::uint32_t> joint, offset;
  std::vector<AffineD> to_joint;
  std::vector<double> radius, size;
  std::vector<Vec3d> centre, root, tip;
  std::vector<std::uint8_t> gaps;
  std::vector<float> box, centres, polynomials;
};

struct Collect {
  Tables& to;
  template <class T>
  void operator()(std::string_view name, const T& member, const auto&...) const {
    const auto take = [&]<class U>(std::string_view wanted, std::vector<U>& out) {
      if constexpr (requires { requires std::same_as<typename T::value_type, U>; }) {
        if (name == wanted) out.assign(member.begin(), member.end());
      }
    };
    take("field_joint", to.joint);
    take("field_to_joint", to.to_joint);
    take("field_reach", to.radius);
    take("field_size", to.size);
    take("field_centre", to.centre);
    take("field_root", to.root);
    take("field_tip", to.tip);
    take("field_corner_gap", to.gaps);
    take("field_box", to.box);
    take("field_centre_offset", to.offset);
    take("field_centres", to.centres);
    take("field_polynomials", to.polynomials);
  }
};

AffineD FrameOf(const Tables& t, std::size_t p, std::span<const Affine> joints) {
  return Compose(ToDouble(joints[t.joint[p]]), t.to_joint[p]);
}

// f / r, 1 outside the support, and its gradient.
FieldValue RawPartAt(const Tables& t, std::size_t p, std::span<const Affine> joints,
                     const Vec3d& x) {
  const AffineD frame = FrameOf(t, p, joints);
  const Mat3d linear = Linear(frame);
  if (Determinant(linear) == 0) return {1, {}};
  const Mat3d inverse = Linear(Inverse(frame));
  const Vec3d u = (1 / t.radius[p]) * Multiply(inverse, x - Translation(frame));
  const float* box = t.box.data() + 6 * p;
  if (u.x < double{box[0]} || u.y < double{box[1]} || u.z < double{box[2]} ||
      u.x > double{box[3]} || u.y > double{box[4]} || u.z > double{box[5]}) {
    return {1, {}};
  }
  const double r{t.polynomials[16 * p + 14]};
  double f = 0;
  Vec3d g;
  for (std::uint32_t k = t.offset[p]; k < t.offset[p + 1]; ++k) {
    const float* c = t.centres.data() + 8 * k;
    const Vec3d d = u - Vec3d{double{c[0]}, double{c[1]}, double{c[2]}};
    // In the layout of packed_hrbf.h; the polynomial is part of the same sum.
    const Vec3d beta = (1.0 / 3) * Vec3d{double{c[4]}, double{c[5]}, double{c[6]}};
    const double alpha = -2 * r * double{c[3]}, l = std::sqrt(Dot(d, d));
    if (l == 0) continue;
    f += alpha * l * l * l + 3 * l * Dot(beta, d);
    g = g + 3 * ((alpha * l) * d + (Dot(beta, d) / l) * d + l * beta);
  }
  if (f >= 1) return {1, {}};
  return {f, (1 / t.radius[p]) * Multiply(Transpose(inverse), g)};
}

// The gap of a part in the bind pose by linear interpolation, made a weight.
double TrustAt(const Tables& t, std::size_t p, const Vec3d& x) {
  constexpr std::size_t kSide = 17;
  const Vec3d u = (1 / t.radius[p]) * (x - t.centre[p]);
  const double at[3] = {u.x, u.y, u.z};
  std::size_t cell[3];
  double share[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const double low{t.box[6 * p + i]}, high{t.box[6 * p + 3 + i]};
    const double place = (at[i] - low) / (high - low) * (kSide - 1);
    if (!(place >= 0 && place <= kSide - 1)) return 0;
    cell[i] = std::min<std::size_t>(static_cast<std::size_t>(place), kSide - 2);
    share[i] = place - static_cast<double>(cell[i]);
  }
  double gap = 0;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t index = kSide * kSide * kSide * p, step = 1;
    for (std::size_t i = 0; i < 3; ++i, step *= kSide) {
      const bool far = (corner >> i & 1) != 0;
      weight *= far ? share[i] : 1 - share[i];
      index += step * (cell[i] + (far ? 1 : 0));
    }
    gap += weight * (t.gaps[index] - 128.0) * (0.64 / 127);
  }
  const double s = std::clamp(gap / 0.05, 0.0, 1.0);
  return s * s * (3 - 2 * s);
}

double FromBone(const Tables& t, std::size_t p, const Vec3d& x) {
  const Vec3d from = x - t.centre[p] - t.root[p], along = t.tip[p] - t.root[p];
  const double square = Dot(along, along);
  const double s = square > 0 ? std::clamp(Dot(from, along) / square, 0.0, 1.0) : 0;
  const Vec3d off = from - s * along;
  return std::sqrt(Dot(off, off));
}

}  // namespace

LimbDistances DistancesOf(const LimbField& field, std::vector<Affine> bind,
                          std::span<const Affine> joints) {
  const auto t = std::make_shared<Tables>();
  LimbField::Fields(field, Collect{*t});
  LimbDistances limbs;
  double scale = 0;
  for (std::size_t p = 0; p < field.parts(); ++p) {
    const AffineD from = FrameOf(*t, p, bind), to = FrameOf(*t, p, joints);
    limbs.motions.push_back(Compose(to, Inverse(from)));
    limbs.centre.push_back(Translation(from));
    limbs.reach.push_back(t->radius[p] / field.unit());
    limbs.size.push_back(t->size[p] / field.unit());
    scale += std::cbrt(std::abs(Determinant(Linear(to)))) / static_cast<double>(field.parts());
  }
  limbs.trust = [t](std::size_t p, const Vec3d& x) { return TrustAt(*t, p, x); };
  limbs.from_bone = [t, unit = field.unit()](std::size_t p, const Vec3d& x) {
    return FromBone(*t, p, x) / unit;
  };
  limbs.unit = field.unit() * scale;
  const auto in_pose = [t](std::vector<Affine> pose, double unit, double to_units) {
    return [t, pose = std::move(pose), unit, to_units](std::size_t p, const Vec3d& x) {
      const FieldValue raw = RawPartAt(*t, p, pose, x);
      const double length = t->radius[p] / to_units;
      return FieldValue{length * raw.value, (length * unit) * raw.gradient};
    };
  };
  limbs.bind = in_pose(std::move(bind), field.unit(), field.unit());
  limbs.posed = in_pose({joints.begin(), joints.end()}, limbs.unit, field.unit());
  return limbs;
}

}  // namespace sinew::reference
