#include "server/convert/muscle.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <string>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

using Floats = google::protobuf::RepeatedField<float>;

absl::StatusOr<Vec3d> ReadVector(const Floats& values, const std::string& path) {
  if (values.size() != 3) {
    return InvalidField(
        path, absl::StrCat("got ", CountedText(static_cast<std::uint64_t>(values.size()), "value"),
                           ", need x, y, z"));
  }
  return Vec3d{values[0], values[1], values[2]};
}

absl::StatusOr<MusclePoint> ReadPoint(const v1::MusclePoint& point, const std::string& path) {
  SINEW_ASSIGN_OR_RETURN(const Vec3d at, ReadVector(point.at(), path + ".at"));
  return MusclePoint{point.joint(), at};
}

absl::StatusOr<MuscleWrap> ReadWrap(const v1::MuscleWrap& from, const std::string& path) {
  MuscleWrap wrap;
  if (from.shape() == v1::WRAP_SHAPE_CYLINDER) {
    wrap.shape = WrapShape::kCylinder;
    SINEW_ASSIGN_OR_RETURN(wrap.axis, ReadVector(from.axis(), path + ".axis"));
  } else if (from.shape() == v1::WRAP_SHAPE_SPHERE) {
    wrap.shape = WrapShape::kSphere;
    if (from.axis_size() > 0) {
      return InvalidField(path + ".axis", "got one for a sphere, need none");
    }
  } else {
    return InvalidField(path + ".shape", absl::StrCat("got ", static_cast<int>(from.shape()),
                                                      ", need CYLINDER or SPHERE"));
  }
  wrap.joint = from.joint();
  SINEW_ASSIGN_OR_RETURN(wrap.centre, ReadVector(from.centre(), path + ".centre"));
  wrap.radius = from.radius();
  return wrap;
}

absl::StatusOr<MuscleProfile> ReadProfile(v1::MuscleProfile profile, const std::string& path) {
  switch (profile) {
    case v1::MUSCLE_PROFILE_UNSPECIFIED:
    case v1::MUSCLE_PROFILE_ELLIPSOID:
      return MuscleProfile::kEllipsoid;
    case v1::MUSCLE_PROFILE_SINE:
      return MuscleProfile::kSine;
    case v1::MUSCLE_PROFILE_ROOT_SINE:
      return MuscleProfile::kRootSine;
    case v1::MUSCLE_PROFILE_PARABOLA:
      return MuscleProfile::kParabola;
    default:
      return InvalidField(path, absl::StrCat("got ", static_cast<int>(profile),
                                             ", need ELLIPSOID, SINE, ROOT_SINE or PARABOLA"));
  }
}

std::optional<std::uint32_t> FindControl(const RigSource& source, const std::string& name) {
  for (std::size_t k = 0; k < source.controls.size(); ++k) {
    if (source.controls[k].name == name) return static_cast<std::uint32_t>(k);
  }
  return std::nullopt;
}

absl::StatusOr<Muscle> ReadMuscle(const v1::Muscle& from, const std::string& path,
                                  const RigConfig& limits, const RigSource& source) {
  SINEW_RETURN_IF_ERROR(CheckLimit(path + ".via", static_cast<std::uint64_t>(from.via_size()),
                                   limits.muscle_vias, "points", "max-muscle-vias"));
  Muscle muscle;
  muscle.name = from.name();
  SINEW_ASSIGN_OR_RETURN(muscle.origin, ReadPoint(from.origin(), path + ".origin"));
  SINEW_ASSIGN_OR_RETURN(muscle.insertion, ReadPoint(from.insertion(), path + ".insertion"));
  for (int k = 0; k < from.via_size(); ++k) {
    SINEW_ASSIGN_OR_RETURN(const MusclePoint via,
                           ReadPoint(from.via(k), absl::StrCat(path, ".via[", k, "]")));
    muscle.via.push_back(via);
  }
  if (from.has_wrap()) {
    SINEW_ASSIGN_OR_RETURN(muscle.wrap, ReadWrap(from.wrap(), path + ".wrap"));
  }
  muscle.origin_tendon = from.origin_tendon();
  muscle.insertion_tendon = from.insertion_tendon();
  muscle.width = from.width();
  muscle.depth = from.depth();
  if (from.width_direction_size() > 0) {
    SINEW_ASSIGN_OR_RETURN(muscle.width_direction,
                           ReadVector(from.width_direction(), path + ".width_direction"));
  }
  SINEW_ASSIGN_OR_RETURN(muscle.profile, ReadProfile(from.profile(), path + ".profile"));
  if (from.has_warp()) muscle.warp = from.warp();
  if (from.has_tension()) muscle.tension = from.tension();
  if (from.has_fat()) muscle.fat = from.fat();
  if (!from.activation().empty()) {
    muscle.activation = FindControl(source, from.activation());
    if (!muscle.activation) {
      return InvalidField(path + ".activation", absl::StrCat("got '", from.activation(),
                                                             "', need the name of a control"));
    }
  }
  return muscle;
}

}  // namespace

absl::Status ConvertMuscles(const v1::Rig& rig, const RigConfig& limits, RigSource& source) {
  SINEW_RETURN_IF_ERROR(CheckLimit("rig.muscles", static_cast<std::uint64_t>(rig.muscles_size()),
                                   limits.muscles, "muscles", "max-rig-muscles"));
  for (int m = 0; m < rig.muscles_size(); ++m) {
    SINEW_ASSIGN_OR_RETURN(
        Muscle muscle,
        ReadMuscle(rig.muscles(m), absl::StrCat("rig.muscles[", m, "]"), limits, source));
    source.muscles.push_back(std::move(muscle));
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
