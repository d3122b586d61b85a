#include "core/muscle/muscle.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <string_view>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr double kSteepest = 8;  // limit of a profile's slope
constexpr double kMinWarp = 0.1, kMaxWarp = 10;
constexpr double kMinTension = 0.25, kMaxTension = 4;
constexpr int kQuadratureSteps = 4096;

absl::Status Wrong(const std::string& field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

bool IsLength(double value) {
  return std::isfinite(value) && value >= 0 && value <= kLongestMuscle;
}

absl::Status CheckVector(const std::string& field, const Vec3d& v) {
  for (const double value : {v.x, v.y, v.z}) {
    if (!IsLength(std::abs(value))) {
      return Wrong(
          field, absl::StrCat("got ", value, ", need finite numbers of at most ", kLongestMuscle));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckJoint(const std::string& field, std::uint32_t joint, std::size_t joints) {
  if (joint < joints) return absl::OkStatus();
  return Wrong(field + ".joint", absl::StrCat("got ", joint, ", need less than ", joints));
}

absl::Status CheckPoint(const std::string& field, const MusclePoint& point, std::size_t joints) {
  SINEW_RETURN_IF_ERROR(CheckJoint(field, point.joint, joints));
  return CheckVector(field + ".at", point.at);
}

absl::Status CheckRange(const std::string& field, double got, double least, double most) {
  if (got >= least && got <= most) return absl::OkStatus();
  return Wrong(field, absl::StrCat("got ", got, ", need ", least, " to ", most));
}

absl::Status CheckPositive(const std::string& field, double got) {
  if (IsLength(got) && got > 0) return absl::OkStatus();
  return Wrong(field, absl::StrCat("got ", got, ", need more than 0 and at most ", kLongestMuscle));
}

absl::Status CheckNotNegative(const std::string& field, double got) {
  if (IsLength(got)) return absl::OkStatus();
  return Wrong(field, absl::StrCat("got ", got, ", need 0 to ", kLongestMuscle));
}

absl::Status CheckWrap(const std::string& field, const MuscleWrap& wrap, std::size_t joints) {
  if (wrap.shape == WrapShape::kNone) return absl::OkStatus();
  SINEW_RETURN_IF_ERROR(CheckJoint(field, wrap.joint, joints));
  SINEW_RETURN_IF_ERROR(CheckVector(field + ".centre", wrap.centre));
  SINEW_RETURN_IF_ERROR(CheckPositive(field + ".radius", wrap.radius));
  if (wrap.shape == WrapShape::kSphere) return absl::OkStatus();
  SINEW_RETURN_IF_ERROR(CheckVector(field + ".axis", wrap.axis));
  if (!(Dot(wrap.axis, wrap.axis) > 1e-24)) {
    return Wrong(field + ".axis", "got 0 0 0, need the direction of the cylinder");
  }
  return absl::OkStatus();
}

absl::Status CheckMuscle(const std::string& field, const Muscle& muscle, std::size_t joints,
                         std::size_t controls) {
  SINEW_RETURN_IF_ERROR(CheckPoint(field + ".origin", muscle.origin, joints));
  SINEW_RETURN_IF_ERROR(CheckPoint(field + ".insertion", muscle.insertion, joints));
  if (muscle.via.size() > kMaxViaPoints) {
    return Wrong(field + ".via",
                 absl::StrCat("got ", muscle.via.size(), " points, need at most ", kMaxViaPoints));
  }
  for (std::size_t k = 0; k < muscle.via.size(); ++k) {
    SINEW_RETURN_IF_ERROR(CheckPoint(absl::StrCat(field, ".via[", k, "]"), muscle.via[k], joints));
  }
  SINEW_RETURN_IF_ERROR(CheckWrap(field + ".wrap", muscle.wrap, joints));
  SINEW_RETURN_IF_ERROR(CheckNotNegative(field + ".origin_tendon", muscle.origin_tendon));
  SINEW_RETURN_IF_ERROR(CheckNotNegative(field + ".insertion_tendon", muscle.insertion_tendon));
  SINEW_RETURN_IF_ERROR(CheckPositive(field + ".width", muscle.width));
  SINEW_RETURN_IF_ERROR(CheckPositive(field + ".depth", muscle.depth));
  SINEW_RETURN_IF_ERROR(CheckVector(field + ".width_direction", muscle.width_direction));
  SINEW_RETURN_IF_ERROR(CheckRange(field + ".warp", muscle.warp, kMinWarp, kMaxWarp));
  if (muscle.profile == MuscleProfile::kEllipsoid && muscle.warp != 1) {
    return Wrong(field + ".warp", absl::StrCat("got ", muscle.warp,
                                               ", need 1 for an ellipsoid, or another profile"));
  }
  SINEW_RETURN_IF_ERROR(CheckRange(field + ".tension", muscle.tension, kMinTension, kMaxTension));
  if (muscle.fat) SINEW_RETURN_IF_ERROR(CheckNotNegative(field + ".fat", *muscle.fat));
  if (muscle.activation && *muscle.activation >= controls) {
    return Wrong(field + ".activation",
                 absl::StrCat("got control ", *muscle.activation, ", need one of ", controls));
  }
  return absl::OkStatus();
}

// The warped u, and its derivative.
double Warped(double warp, double u) {
  return warp >= 1 ? std::pow(u, warp) : 1 - std::pow(1 - u, 1 / warp);
}
double WarpSlope(double warp, double u) {
  return warp >= 1 ? warp * std::pow(u, warp - 1) : std::pow(1 - u, 1 / warp - 1) / warp;
}

double SquaredRadius(MuscleProfile profile, double x) {
  const double sine = std::sin(std::numbers::pi * x), parabola = 4 * x * (1 - x);
  switch (profile) {
    case MuscleProfile::kEllipsoid:
      return parabola;
    case MuscleProfile::kSine:
      return sine * sine;
    case MuscleProfile::kRootSine:
      return std::max(sine, 0.0);
    case MuscleProfile::kParabola:
      break;
  }
  return parabola * parabola;
}

}  // namespace

absl::Status CheckMuscles(std::span<const Muscle> muscles, std::size_t joints,
                          std::size_t controls) {
  if (muscles.size() > kMaxMuscles) {
    return Wrong("rig.muscles",
                 absl::StrCat("got ", muscles.size(), " muscles, need at most ", kMaxMuscles));
  }
  std::set<std::string_view> names;
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    const std::string field = absl::StrCat("rig.muscles[", m, "]");
    if (muscles[m].name.empty() || !names.insert(muscles[m].name).second) {
      return Wrong(field + ".name",
                   absl::StrCat("got '", muscles[m].name, "', need a non-empty, unique name"));
    }
    SINEW_RETURN_IF_ERROR(CheckMuscle(field, muscles[m], joints, controls));
  }
  return absl::OkStatus();
}

double ProfileRadius(MuscleProfile profile, double warp, double u) {
  if (!(u > 0 && u < 1)) return 0;
  return std::sqrt(SquaredRadius(profile, Warped(warp, u)));
}

double ProfileSlope(MuscleProfile profile, double warp, double u) {
  using std::numbers::pi;
  const double at = std::clamp(u, 0.0, 1.0);
  const double x = Warped(warp, at);
  double slope = 0;
  switch (profile) {
    case MuscleProfile::kEllipsoid:
      slope = (2 - 4 * x) / std::sqrt(std::max(SquaredRadius(profile, x), 1e-12));
      break;
    case MuscleProfile::kSine:
      slope = pi * std::cos(pi * x);
      break;
    case MuscleProfile::kRootSine:
      slope = 0.5 * pi * std::cos(pi * x) / std::sqrt(std::max(std::sin(pi * x), 1e-12));
      break;
    case MuscleProfile::kParabola:
      slope = 4 - 8 * x;
      break;
  }
  return std::clamp(slope * WarpSlope(warp, at), -kSteepest, kSteepest);
}

double ProfileArea(MuscleProfile profile, double warp) {
  using std::numbers::pi;
  if (warp == 1) {
    constexpr std::array<double, 4> kAreas = {2.0 / 3, 0.5, 2 / pi, 8.0 / 15};
    return kAreas[static_cast<std::size_t>(profile)];
  }
  // Warped profiles have no closed form: Simpson's rule over u.
  double sum = 0;
  const double h = 1.0 / kQuadratureSteps;
  for (int k = 0; k <= kQuadratureSteps; ++k) {
    const double weight = k == 0 || k == kQuadratureSteps ? 1 : k % 2 == 1 ? 4 : 2;
    sum += weight * SquaredRadius(profile, Warped(warp, k * h));
  }
  return sum * h / 3;
}

double BellyLength(double path_without_tendons, double rest) {
  return std::clamp(path_without_tendons, kShortestBelly * rest, kLongestBelly * rest);
}

BellyAxes PumpedAxes(const BellyAxes& axes, double rest, double length, double tension,
                     double activation) {
  const double swell = std::sqrt(rest / length);
  const double aspect = std::sqrt(1 + activation * (tension - 1));
  return {axes.width * swell * aspect, axes.depth * swell / aspect};
}

double BellyVolume(const BellyAxes& axes, double length, MuscleProfile profile, double warp) {
  return std::numbers::pi * length * axes.width * axes.depth * ProfileArea(profile, warp);
}

}  // namespace sinew
