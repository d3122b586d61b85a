#include "core/muscle/posed_muscle.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/segment.h"
#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kMinBelly = 1e-3;  // relative to the rest path
constexpr double kMinAxis = 1e-9;   // width and depth relative to the rest path
constexpr double kMinScale = 1e-6;
constexpr double kTiny = 1e-12;

Vec3d Unit(const Vec3d& v, const Vec3d& otherwise) {
  const double length = Length(v);
  return length > kTiny ? (1 / length) * v : otherwise;
}

Vec3d Minus(const Vec3d& v, const Vec3d& unit) {
  return v - Dot(v, unit) * unit;
}

double Size(const AffineD& joint) {
  return Determinant(Linear(joint));
}

// Scale of a joint relative to rest: the cube root of the volume ratio.
double Scale(double size, double rest) {
  const double scale = std::cbrt(std::abs(size)) / std::max(std::cbrt(std::abs(rest)), 1e-100);
  return std::isfinite(scale) && std::abs(rest) > 0 ? std::max(scale, kMinScale) : 1;
}

WrapSolid PosedWrap(const MuscleRow& row, const AffineD& joint) {
  WrapSolid wrap;
  wrap.shape = static_cast<WrapShape>(row.wrap_shape);
  wrap.centre = Apply(joint, row.wrap_centre);
  wrap.axis = Unit(Multiply(Linear(joint), row.wrap_axis), {0, 0, 1});
  const double size = Size(joint);
  wrap.radius = row.wrap_radius * Scale(size, row.wrap_size);
  wrap.rest_angle = row.wrap_angle;
  wrap.mirrored = size * row.wrap_size < 0;
  return wrap;
}

template <class JointOf>
std::vector<PathNode> PathOf(const MuscleTables& tables, const MuscleRow& row,
                             const JointOf& joint) {
  const auto point = [&](std::size_t k) {
    const MusclePointRow& at = tables.points[row.first_point + k];
    return Apply(joint(at.joint), at.at);
  };
  std::vector<PathNode> path = {{0, point(0)}};
  const bool wraps = row.wrap_shape != static_cast<std::uint32_t>(WrapShape::kNone);
  for (std::size_t k = 1; k < row.points; ++k) {
    if (wraps && row.wrap_leg == k - 1) {
      AppendWrapped(point(k), PosedWrap(row, joint(row.wrap_joint)), path);
    } else {
      AppendStraight(point(k), path);
    }
  }
  return path;
}

template <class JointOf>
MuscleState PoseOne(const MuscleTables& tables, std::size_t muscle, const JointOf& joint,
                    std::span<const float> controls) {
  const MuscleRow& row = tables.rows[muscle];
  const AffineD base = joint(tables.points[row.first_point].joint);
  MuscleState state;
  state.path = PathOf(tables, row, joint);
  state.path_length = state.path.back().at;
  state.scale = Scale(Size(base), row.origin_size);
  const double rest = row.belly * state.scale;
  const double from = row.origin_tendon * state.scale;
  const double to = state.path_length - row.insertion_tendon * state.scale;
  state.belly_length = BellyLength(to - from, rest);
  state.belly_from = 0.5 * (from + to - state.belly_length);
  if (row.control != kNoControl) {
    state.activation = std::clamp(double{controls[row.control]}, 0.0, 1.0);
  }
  const Vec3d begin = PointAt(state.path, state.belly_from);
  const Vec3d end = PointAt(state.path, state.belly_from + state.belly_length);

  // The width keeps its direction in the origin's joint and is transported with the chord.
  const Vec3d usual = Unit(Multiply(Linear(base), row.chord), row.chord);
  const Vec3d across = Multiply(Linear(base), row.across);
  const double span = Length(end - begin);
  const Vec3d x = span > 1e-9 * rest ? (1 / span) * (end - begin) : usual;
  const Vec3d carried = Transported(Unit(across, row.across), usual, x);
  const Vec3d side = Minus(carried, x);
  const Vec3d y = Length(side) > 1e-9 ? Unit(side, {}) : AnyPerpendicular(x);
  const Vec3d z = Cross(x, y), centre = 0.5 * (begin + end);
  state.frame = {{x.x, y.x, z.x, centre.x, x.y, y.y, z.y, centre.y, x.z, y.z, z.z, centre.z}};
  const BellyAxes axes = PumpedAxes({row.width * state.scale, row.depth * state.scale}, rest,
                                    state.belly_length, row.tension, state.activation);
  state.radii[0] = 0.5 * state.belly_length;
  state.radii[1] = axes.width;
  state.radii[2] = axes.depth;
  return state;
}

// Fills the wrap's columns: the rest leg nearest to the obstacle, and its side.
void RestWrap(const MuscleWrap& wrap, std::span<const Vec3d> points, const AffineD& joint,
              MuscleRow& row) {
  row.wrap_shape = static_cast<std::uint32_t>(wrap.shape);
  row.wrap_joint = wrap.joint;
  row.wrap_radius = wrap.radius;
  row.wrap_centre = wrap.centre;
  row.wrap_axis = Unit(wrap.axis, {0, 0, 1});
  row.wrap_size = Size(joint);
  const Vec3d centre = Apply(joint, wrap.centre);
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const double distance =
        Length(centre - NearestOnSegment(points[k], points[k + 1], centre).point);
    if (distance < nearest) {
      nearest = distance;
      row.wrap_leg = static_cast<std::uint32_t>(k);
    }
  }
  const Vec3d &a = points[row.wrap_leg], &b = points[row.wrap_leg + 1];
  if (wrap.shape == WrapShape::kSphere) {
    // In joint space, so that it rotates with the joint; used only if the ends do not define a
    // plane.
    const Vec3d normal = Unit(Cross(a - centre, b - centre), {0, 0, 1});
    const Mat3d turn = Transpose(Linear(joint));
    row.wrap_axis = Unit(Multiply(turn, normal), {0, 0, 1});
  }
  const Vec3d axis = Unit(Multiply(Linear(joint), row.wrap_axis), {0, 0, 1});
  row.wrap_angle = AngleAbout(centre, axis, a, b);
}

// Direction from the bone to the belly, perpendicular to the chord. The bone: from the origin's
// joint to the insertion's, or to the muscle's middle if both are the same.
Vec3d AwayFromBone(const Vec3d& bone_from, const Vec3d& bone_to, const Vec3d& belly,
                   const Vec3d& chord) {
  const Vec3d bone = bone_to - bone_from;
  const double length2 = Dot(bone, bone);
  const double t =
      length2 > kTiny ? std::clamp(Dot(belly - bone_from, bone) / length2, 0.0, 1.0) : 0;
  const Vec3d out = Minus(belly - (bone_from + t * bone), chord);
  return Length(out) > 1e-6 * Length(belly - bone_from) ? Unit(out, {}) : AnyPerpendicular(chord);
}

absl::StatusOr<MuscleRow> RestRow(const Muscle& muscle, const std::string& field,
                                  std::span<const AffineD> joints, MuscleTables& tables) {
  MuscleRow row = {};
  row.profile = static_cast<std::uint32_t>(muscle.profile);
  row.width = muscle.width;
  row.depth = muscle.depth;
  row.warp = muscle.warp;
  row.tension = muscle.tension;
  row.fat = muscle.fat.value_or(-1);
  row.control = muscle.activation.value_or(kNoControl);
  row.origin_tendon = muscle.origin_tendon;
  row.insertion_tendon = muscle.insertion_tendon;
  row.first_point = static_cast<std::uint32_t>(tables.points.size());
  row.points = static_cast<std::uint32_t>(muscle.via.size() + 2);
  std::vector<Vec3d> points;
  const auto add = [&](const MusclePoint& point) {
    tables.points.push_back({point.at, point.joint, 0});
    points.push_back(Apply(joints[point.joint], point.at));
  };
  add(muscle.origin);
  for (const MusclePoint& via : muscle.via) add(via);
  add(muscle.insertion);
  const AffineD& base = joints[muscle.origin.joint];
  row.origin_size = Size(base);
  if (muscle.wrap.shape != WrapShape::kNone) {
    RestWrap(muscle.wrap, points, joints[muscle.wrap.joint], row);
  }
  const auto path = PathOf(tables, row, [&](std::uint32_t j) { return joints[j]; });
  const double length = path.back().at;
  if (!(length > 0) || !std::isfinite(length)) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ".insertion: coincides with the origin at rest, need a path of non-zero length"));
  }
  row.belly = length - row.origin_tendon - row.insertion_tendon;
  if (!(row.belly >= kMinBelly * length)) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": tendons add up to ", row.origin_tendon + row.insertion_tendon, ", need at most ",
        (1 - kMinBelly) * length, " on a path of ", length, " at rest"));
  }
  // Thinner bellies exceed the range of float in their fields.
  if (!(std::min(row.width, row.depth) >= kMinAxis * length)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, row.width < row.depth ? ".width: got " : ".depth: got ",
                     std::min(row.width, row.depth), " on a path of ", length,
                     " at rest, need at least ", kMinAxis * length));
  }
  const Vec3d begin = PointAt(path, row.origin_tendon);
  const Vec3d end = PointAt(path, length - row.insertion_tendon);
  const Vec3d chord = Unit(end - begin, {1, 0, 0});
  const Vec3d bone_from = Translation(base);
  Vec3d bone_to = Translation(joints[muscle.insertion.joint]);
  if (Length(bone_to - bone_from) < 1e-6 * length) bone_to = bone_from + 0.5 * length * chord;
  Vec3d across = AwayFromBone(bone_from, bone_to, 0.5 * (begin + end), chord);
  if (Dot(muscle.width_direction, muscle.width_direction) > 0) {
    const Vec3d wanted = Minus(Unit(Multiply(Linear(base), muscle.width_direction), {}), chord);
    if (Length(wanted) < 1e-6) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".width_direction: is along the belly, need a direction across it"));
    }
    across = Unit(wanted, across);
  }
  // To joint space. A singular joint uses the identity.
  const bool flat = !(std::abs(row.origin_size) > 0) || !std::isfinite(1 / row.origin_size);
  const Mat3d inverse = flat ? Mat3d{} : Linear(Inverse(base));
  row.chord = Multiply(inverse, chord);
  row.across = Multiply(inverse, across);
  return row;
}

bool Finite(std::initializer_list<double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

bool Finite(const Vec3d& v) {
  return Finite({v.x, v.y, v.z});
}

PosedMuscle Rounded(const MuscleState& state) {
  PosedMuscle posed;
  posed.frame = ToFloat(state.frame);
  for (std::size_t i = 0; i < 3; ++i) posed.radii[i] = static_cast<float>(state.radii[i]);
  return posed;
}

}  // namespace

absl::StatusOr<MuscleTables> MuscleTables::Create(std::span<const Muscle> muscles,
                                                  std::span<const AffineD> rest,
                                                  std::size_t controls) {
  SINEW_RETURN_IF_ERROR(CheckMuscles(muscles, rest.size(), controls));
  MuscleTables tables;
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    SINEW_ASSIGN_OR_RETURN(const MuscleRow row,
                           RestRow(muscles[m], absl::StrCat("rig.muscles[", m, "]"), rest, tables));
    tables.rows.push_back(row);
  }
  return tables;
}

bool IsSound(const MuscleRow& row) {
  return row.points >= 2 && row.wrap_leg < row.points - 1 &&
         row.profile <= static_cast<std::uint32_t>(MuscleProfile::kParabola) &&
         row.wrap_shape <= static_cast<std::uint32_t>(WrapShape::kSphere) &&
         Finite({row.origin_tendon, row.insertion_tendon, row.fat, row.wrap_angle, row.origin_size,
                 row.wrap_size, row.belly, row.width, row.depth, row.wrap_radius, row.tension}) &&
         Finite(row.wrap_centre) && Finite(row.wrap_axis) && Finite(row.chord) &&
         Finite(row.across) && row.belly > 0 && row.width > 0 && row.depth > 0 && row.tension > 0 &&
         row.wrap_radius >= 0 && row.warp >= 0.1 && row.warp <= 10;
}

absl::Status MuscleTables::Check(std::size_t joint_count) const {
  SINEW_RETURN_IF_ERROR(CheckFields("muscles", *this, {}));
  std::size_t used = 0;
  for (const MuscleRow& row : rows) {
    if (row.first_point != used || row.points > points.size() - used) {
      return absl::DataLossError(absl::StrCat("bound data: muscles: points ", row.first_point,
                                              " and ", row.points, " more, need them from ", used,
                                              ", of ", points.size()));
    }
    used += row.points;
  }
  if (used != points.size()) {
    return absl::DataLossError(
        absl::StrCat("bound data: muscles: got ", points.size(), " points, need ", used));
  }
  if (joints() > joint_count) {
    return absl::DataLossError(
        absl::StrCat("bound data: muscles: need ", joints(), " joints, got ", joint_count));
  }
  return absl::OkStatus();
}

std::size_t MuscleTables::controls() const {
  std::size_t needed = 0;
  for (const MuscleRow& row : rows) {
    if (row.control != kNoControl) needed = std::max(needed, std::size_t{row.control} + 1);
  }
  return needed;
}

std::size_t MuscleTables::joints() const {
  std::size_t needed = 0;
  for (const MusclePointRow& point : points) {
    needed = std::max(needed, std::size_t{point.joint} + 1);
  }
  for (const MuscleRow& row : rows) needed = std::max(needed, std::size_t{row.wrap_joint} + 1);
  return needed;
}

MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const AffineD> joints, std::span<const float> controls) {
  return PoseOne(
      tables, muscle, [&](std::uint32_t j) { return joints[j]; }, controls);
}

MuscleState PoseMuscle(const MuscleTables& tables, std::size_t muscle,
                       std::span<const Affine> joints, std::span<const float> controls) {
  return PoseOne(
      tables, muscle, [&](std::uint32_t j) { return ToDouble(joints[j]); }, controls);
}

std::vector<PosedMuscle> PoseMuscles(const MuscleTables& tables, std::span<const Affine> joints,
                                     std::span<const float> controls) {
  std::vector<PosedMuscle> posed;
  posed.reserve(tables.rows.size());
  for (std::size_t m = 0; m < tables.rows.size(); ++m) {
    posed.push_back(Rounded(PoseMuscle(tables, m, joints, controls)));
  }
  return posed;
}

}  // namespace sinew
