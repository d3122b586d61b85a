#include "core/deform/ddm/ddm_lane.h"

#include <algorithm>
#include <cmath>

#include "core/solve/rotation.h"

namespace sinew {
namespace {

using Quaternion = std::array<double, 4>;  // w x y z

constexpr double kDegree = 3.14159265358979323846 / 180;
constexpr double kFadeEnd = 85 * kDegree;    // from there on the blended rotation
constexpr double kFadeWidth = 25 * kDegree;  // below kFadeEnd - kFadeWidth the fitted rotation

Mat3d ToMatrix(const Quaternion& q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  return {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
           1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
           1 - 2 * (x * x + y * y)}};
}

double Norm(const Quaternion& q) {
  return std::sqrt(((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) + q[3] * q[3]);
}

// (cos, sin) of half the angle of a rotation by 60 to 85 degrees, and that half angle, from its
// trace.
struct HalfAngle {
  double cosine, sine, angle;
};
HalfAngle HalfAngleOf(double trace) {
  const double cosine = std::sqrt(std::clamp((trace + 1) / 4, 0.0, 1.0));
  const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
  // Series of the arc sine about the middle of the range, 36.25 degrees.
  constexpr double kMiddle = 36.25 * kDegree, kSine = 0.5913096483635824,
                   kCosine = 0.8064446042674828;
  const double d = sine * kCosine - cosine * kSine, d2 = d * d;
  const double arc =
      d *
      (1 + d2 * (1.0 / 6 +
                 d2 * (3.0 / 40 + d2 * (15.0 / 336 + d2 * (105.0 / 3456 + d2 * (945.0 / 42240))))));
  return {cosine, sine, kMiddle + arc};
}

// Sine for angles up to one radian.
double SmallSine(double a) {
  const double b = a * a;
  return a *
         (1 - b / 6 * (1 - b / 20 * (1 - b / 42 * (1 - b / 72 * (1 - b / 110 * (1 - b / 156))))));
}
double SmallCosine(double a) {
  const double b = a * a;
  return 1 - b / 2 * (1 - b / 12 * (1 - b / 30 * (1 - b / 56 * (1 - b / 90 * (1 - b / 132)))));
}

// blended * (blended^T fitted)^s, s falling from 1 to 0 as their angle grows from 60 to 85 degrees.
Mat3d Fade(const Mat3d& fitted, const Mat3d& blended) {
  const Mat3d apart = Multiply(Transpose(blended), fitted);
  const double trace = apart.m[0] + apart.m[4] + apart.m[8];
  constexpr double kTraceAtEnd = 1.1743114854953163;  // 1 + 2 cos 85 degrees
  if (trace >= 2) return fitted;
  if (trace <= kTraceAtEnd) return blended;
  const HalfAngle half = HalfAngleOf(trace);
  const double t = std::clamp((kFadeEnd - 2 * half.angle) / kFadeWidth, 0.0, 1.0);
  const double angle = half.angle * (t * t * (3 - 2 * t));
  const double scale =
      SmallSine(angle) /
      (4 * half.cosine * half.sine);  // times the axis, whose length is 2 sin(theta)
  const Quaternion partial = {SmallCosine(angle), scale * (apart.m[7] - apart.m[5]),
                              scale * (apart.m[2] - apart.m[6]), scale * (apart.m[3] - apart.m[1])};
  return Multiply(blended, ToMatrix(partial));
}

// Sums over the joints of a lane; see DdmKernelArgs.
struct LaneSums {
  Mat3d h{{0, 0, 0, 0, 0, 0, 0, 0, 0}};
  Vec3d q, translation, psi;
  Quaternion blend{};
};

Vec3d Move(const float* affine, const Vec3d& u) {
  const auto row = [&](const float* m) {
    return double{m[0]} * u.x + double{m[1]} * u.y + double{m[2]} * u.z + double{m[3]};
  };
  return {row(affine), row(affine + 4), row(affine + 8)};
}

Vec3d Column(const float* block, std::size_t lane) {
  return {block[lane], block[16 + lane], block[32 + lane]};
}

struct LaneRow {
  const DdmTable& table;
  std::size_t pair, lane;
  double operator[](int field) const {
    return double{
        table.values[(pair * table.fields + static_cast<std::size_t>(field)) * 16 + lane]};
  }
};

void AddJoint(const DdmJoint& joint, const DdmJoint& pivot, const LaneRow& row, const Vec3d& rest,
              const Vec3d& pivot_point, const Vec3d& pc, LaneSums& sums) {
  const Vec3d e = Move(joint.affine, rest) - pivot_point;
  const Vec3d psi = {row[kPsi0], row[kPsi1], row[kPsi2]};
  const double omega = row[kOmega];
  Mat3d linear;
  for (std::size_t i = 0; i < 9; ++i) linear.m[i] = double{joint.linear[i]};
  sums.q = sums.q + Multiply(linear, psi) + omega * e;
  sums.psi = sums.psi + psi;
  const double p01 = row[kP01], p02 = row[kP02], p12 = row[kP12];
  const Mat3d p = {{row[kP00], p01, p02, p01, row[kP11], p12, p02, p12, row[kP22]}};
  const Mat3d turned = Multiply(linear, p);
  const double ev[3] = {e.x, e.y, e.z}, pv[3] = {psi.x, psi.y, psi.z};
  for (std::size_t i = 0; i < 9; ++i) sums.h.m[i] += turned.m[i] + ev[i / 3] * pv[i % 3];
  double dot = 0;
  for (std::size_t i = 0; i < 4; ++i)
    dot += double{joint.quaternion[i]} * double{pivot.quaternion[i]};
  const double weight = dot < 0 ? -omega : omega;
  for (std::size_t i = 0; i < 4; ++i) sums.blend[i] += weight * double{joint.quaternion[i]};
  if (row.table.fields > kDdmFields) {
    const double w = row[kTranslation];
    sums.translation = sums.translation + w * (Multiply(linear, pc) + e);
  }
}

// cof(h) second / determinant.
Mat3d AffineFit(const Mat3d& h, const DdmShape& shape) {
  Mat3d scaled = h;
  for (double& v : scaled.m) v *= shape.inverse_trace;
  const double* const s = shape.second;
  Mat3d fit = Multiply(Cofactor(scaled), {{s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]}});
  for (double& v : fit.m) v /= shape.determinant;
  return fit;
}

}  // namespace

Mat3d ChooseRotation(const Mat3d& h, const std::array<double, 4>& blend, bool guard) {
  const NearestRotationResult fitted = NearestRotation(h);
  if (fitted.unique && !guard) return fitted.rotation;
  const double norm = Norm(blend);
  Quaternion unit = blend;
  for (double& v : unit) v /= norm;
  const Mat3d blended = ToMatrix(unit);
  return fitted.unique ? Fade(fitted.rotation, blended) : blended;
}

DdmShape ShapeOfLane(const DdmTable& table, std::size_t first, std::size_t last, std::size_t lane) {
  constexpr int kSecond[6] = {kP00, kP01, kP02, kP11, kP12, kP22};
  constexpr int kFirst[3] = {kPsi0, kPsi1, kPsi2};
  double m[6] = {}, c[3] = {};
  for (std::size_t k = first; k < last; ++k) {
    const LaneRow row = {table, k, lane};
    for (int i = 0; i < 6; ++i) m[i] += row[kSecond[i]];
    for (int i = 0; i < 3; ++i) c[i] += row[kFirst[i]];
  }
  for (int i = 0, k = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) m[k++] -= c[i] * c[j];
  }
  DdmShape shape;
  const double trace = m[0] + m[3] + m[5];
  if (!(trace > 0)) return shape;
  shape.inverse_trace = 1 / trace;
  for (int i = 0; i < 6; ++i) shape.second[i] = m[i] / trace;
  const double* const s = shape.second;
  shape.determinant = Determinant({{s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]}});
  return shape;
}

Vec3f DdmLane(const DdmKernelArgs& args, std::size_t block, std::size_t lane) {
  const Vec3d rest = Column(args.rest + 48 * block, lane);
  const Vec3d pc = Column(args.centroid + 48 * block, lane);
  const std::uint32_t first = args.pair_offset[block], last = args.pair_offset[block + 1];
  const DdmJoint& pivot = args.joints[args.pair_entry[first]];
  const Vec3d pivot_point = Move(pivot.affine, rest);
  LaneSums sums;
  for (std::uint32_t k = first; k < last; ++k) {
    AddJoint(args.joints[args.pair_entry[k]], pivot, {args.table, k, lane}, rest, pivot_point, pc,
             sums);
  }
  // An affine fit to a thin neighbourhood needs the centroid in double.
  const Vec3d centroid = args.fit != nullptr ? sums.psi : pc;
  const double qv[3] = {sums.q.x, sums.q.y, sums.q.z};
  const double pv[3] = {centroid.x, centroid.y, centroid.z};
  for (std::size_t i = 0; i < 9; ++i) sums.h.m[i] -= qv[i / 3] * pv[i % 3];
  const double sign = double{pivot.sign};
  if (args.fit == nullptr) {
    for (double& v : sums.h.m) v *= sign;
  }
  // Opposite quaternions of equal weight cancel: use the pivot's.
  if (!(Norm(sums.blend) > 1e-6)) {
    for (std::size_t i = 0; i < 4; ++i) sums.blend[i] = double{pivot.quaternion[i]};
  }
  const Mat3d rotation = args.fit != nullptr
                             ? AffineFit(sums.h, ShapeOfLane(args.table, first, last, lane))
                             : ChooseRotation(sums.h, sums.blend, args.guard);

  Vec3d moved = pivot_point + sums.q;
  if (args.table.fields > kDdmFields) {
    const double alpha = double{args.alpha};
    moved = pivot_point + (1 - alpha) * sums.q + alpha * sums.translation;
  }
  Vec3d arm = {-pc.x, -pc.y, -pc.z};
  if (args.in != nullptr) arm = arm + (Column(args.out + 48 * block, lane) - rest);
  return ToFloat(moved + sign * Multiply(rotation, arm));
}

}  // namespace sinew
