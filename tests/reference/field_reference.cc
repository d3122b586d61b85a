#include "tests/reference/field_reference.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>
#include <vector>

namespace sinew::reference {
namespace {

// Members of a bound field by name.
struct Tables {
  std::vector<std::uint32_t> joint, offset;
  std::vector<std::int32_t> parent;
  std::vector<AffineD> to_joint;
  std::vector<double> radius;
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
    take("field_parent", to.parent);
    take("field_to_joint", to.to_joint);
    take("field_radius", to.radius);
    take("field_box", to.box);
    take("field_centre_offset", to.offset);
    take("field_centres", to.centres);
    take("field_polynomials", to.polynomials);
  }
};

FieldSample PartAt(const Tables& t, std::size_t p, std::span<const Affine> joints, const Vec3d& x) {
  const AffineD frame = Compose(ToDouble(joints[t.joint[p]]), t.to_joint[p]);
  const Mat3d linear = Linear(frame);
  if (Determinant(linear) == 0) return {};
  const Mat3d inverse = Linear(Inverse(frame));
  const Vec3d u = (1 / t.radius[p]) * Multiply(inverse, x - Translation(frame));
  const float* box = t.box.data() + 6 * p;
  if (u.x < double{box[0]} || u.y < double{box[1]} || u.z < double{box[2]} ||
      u.x > double{box[3]} || u.y > double{box[4]} || u.z > double{box[5]}) {
    return {};
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
  const double clamped = std::clamp(f, -1.0, 1.0);
  const double slope = -15.0 / 16 / t.radius[p] * std::pow(1 - clamped * clamped, 2);
  return {CompactField(f), slope * Multiply(Transpose(inverse), g)};
}

double Cosine(const Vec3d& a, const Vec3d& b, double unit) {
  const double size = std::sqrt(Dot(a, a) * Dot(b, b));
  return std::sqrt(std::min(Dot(a, a), Dot(b, b))) * unit < 1e-9 ? 1 : Dot(a, b) / size;
}

}  // namespace

double CompactField(double x) {
  x = std::clamp(x, -1.0, 1.0);
  return -3.0 / 16 * std::pow(x, 5) + 5.0 / 8 * std::pow(x, 3) - 15.0 / 16 * x + 0.5;
}

FieldSample LimbFieldAt(const LimbField& field, std::span<const Affine> joints, const Vec3d& x,
                        Contact contact) {
  Tables t;
  LimbField::Fields(field, Collect{t});
  std::vector<FieldSample> parts;
  for (std::size_t p = 0; p < field.parts(); ++p) parts.push_back(PartAt(t, p, joints, x));
  FieldSample out;
  std::size_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].value > parts[first].value) first = p;
    if (parts[p].value > out.value) out = parts[p];
  }
  if (contact == Contact::kCrease || parts.empty()) return out;
  const auto step = [](double from, double to, double c) {
    const double u = std::clamp((c - from) / (to - from), 0.0, 1.0);
    return u * u * (3 - 2 * u);
  };
  double most = 0;
  Vec3d taken;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (p == first || parts[p].value <= 0.5 || parts[first].value <= 0.5) continue;
    const double c = Cosine(parts[first].gradient, parts[p].gradient, field.unit());
    const bool hangs = t.parent[p] == static_cast<std::int32_t>(first);
    const bool carries = t.parent[first] == static_cast<std::int32_t>(p);
    const double share = 1 - (hangs || carries ? step(0.1, 0.3, c) : step(0.7, 0.95, c));
    if (share * (parts[p].value - 0.5) <= most) continue;
    most = share * (parts[p].value - 0.5);
    taken = share * parts[p].gradient;
  }
  out.value -= most;
  out.gradient = out.gradient - taken;
  return out;
}

}  // namespace sinew::reference
