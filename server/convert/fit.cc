#include "server/convert/fit.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/base/printable.h"
#include "server/base/status.h"
#include "server/convert/rig.h"
#include "server/convert/unknown_fields.h"
#include "server/convert/warnings.h"

namespace sinew::server {
namespace {

constexpr std::size_t kWarningsListed = 100;

std::uint32_t Index(bool there, std::uint32_t index) {
  return there ? index : fit::kNone;
}

absl::StatusOr<fit::SkeletonTemplate> ReadTemplate(const v1::FitSkeletonRequest& request) {
  switch (request.template_case()) {
    case v1::FitSkeletonRequest::kBuiltIn: {
      absl::StatusOr<fit::SkeletonTemplate> known =
          fit::BuiltInTemplate(Printable(Shortened(request.built_in(), 100)));
      if (known.ok()) return known;
      absl::string_view what = known.status().message();
      absl::ConsumePrefix(&what, "template: ");
      return InvalidField("built_in", StdView(what));
    }
    case v1::FitSkeletonRequest::kSkeleton:
      break;
    default:
      return InvalidField("template", "unset, need built_in or skeleton");
  }
  const v1::SkeletonTemplate& from = request.skeleton();
  if (static_cast<std::size_t>(from.joints_size()) > fit::kMaxTemplateJoints) {
    return InvalidField("skeleton.joints", absl::StrCat("got ", from.joints_size(), ", need 2 to ",
                                                        fit::kMaxTemplateJoints));
  }
  fit::SkeletonTemplate skeleton{.name = "skeleton", .joints = {}};
  for (const v1::TemplateJoint& joint : from.joints()) {
    skeleton.joints.push_back({.name = joint.name(),
                               .parent = Index(joint.has_parent(), joint.parent()),
                               .place = {joint.x(), joint.y(), joint.z()},
                               .wide = joint.wide(),
                               .foot = joint.foot(),
                               .partner = Index(joint.has_partner(), joint.partner())});
  }
  if (const absl::Status status = fit::CheckTemplate(skeleton); !status.ok()) {
    return InvalidField("skeleton", StdView(status.message()));
  }
  return skeleton;
}

}  // namespace

absl::StatusOr<FitRequest> ReadFitRequest(const v1::FitSkeletonRequest& request,
                                          const WeightsConfig& limits) {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request, ""));
  FitRequest read;
  SINEW_ASSIGN_OR_RETURN(read.skeleton, ReadTemplate(request));
  FitOptions& options = read.options;
  if (request.has_resolution()) options.resolution = request.resolution();
  if (request.has_resolution() && options.resolution > limits.resolution) {
    return LimitExceeded("resolution", options.resolution, limits.resolution, "voxels",
                         "max-weight-resolution");
  }
  options.resolution = std::min(options.resolution, static_cast<std::uint32_t>(limits.resolution));
  if (request.has_scale()) options.scale = request.scale();
  options.turns = !request.faces_forward();
  if (static_cast<std::size_t>(request.hints_size()) > read.skeleton.joints.size()) {
    return InvalidField(
        "hints", absl::StrCat("got ", request.hints_size(), ", need at most one for each of the ",
                              read.skeleton.joints.size(), " joints"));
  }
  for (const v1::JointHint& hint : request.hints()) {
    options.hints.push_back({hint.joint(), {hint.x(), hint.y(), hint.z()}});
  }
  SINEW_RETURN_IF_ERROR(WithDetails(CheckFitOptions(read.skeleton, options)));
  return read;
}

absl::StatusOr<Mesh> ReadUnriggedMesh(const v1::Rig& rig, const RigConfig& limits) {
  if (rig.muscles_size() > 0) {
    return InvalidField("rig.muscles",
                        "got some, which belong to joints that are replaced; need none");
  }
  for (int m = 0; m < rig.meshes_size(); ++m) {
    if (!rig.meshes(m).has_skin()) continue;
    return InvalidField(absl::StrCat("rig.meshes[", m, "].skin"),
                        "got one; need meshes without skins, whose joints may be replaced");
  }
  int without_skin = 0;
  SINEW_ASSIGN_OR_RETURN(RigSource source, ReadRig(rig, limits, without_skin));
  return Mesh::Create(std::move(source.mesh));
}

FitUp UpOf(const v1::Rig& rig) {
  if (rig.up_axis() == v1::UP_AXIS_Y) return FitUp::kY;
  return rig.up_axis() == v1::UP_AXIS_Z ? FitUp::kZ : FitUp::kUnknown;
}

void ReplaceJoints(const fit::SkeletonTemplate& skeleton, const SkeletonFit& fitted, v1::Rig& rig) {
  if (rig.up_axis() == v1::UP_AXIS_UNSPECIFIED) {
    if (fitted.facing.up == Vec3d{0, 1, 0}) rig.set_up_axis(v1::UP_AXIS_Y);
    if (fitted.facing.up == Vec3d{0, 0, 1}) rig.set_up_axis(v1::UP_AXIS_Z);
  }
  rig.clear_joints();
  std::vector<float> local;
  for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
    const fit::TemplateJoint& from = skeleton.joints[j];
    v1::Joint& joint = *rig.add_joints();
    joint.set_name(from.name);
    Vec3d offset = fitted.places[j];
    if (from.parent != fit::kNone) {
      joint.set_parent(from.parent);
      offset = offset - fitted.places[from.parent];
    }
    const Vec3f at = ToFloat(offset);
    local.insert(local.end(), {1, 0, 0, at.x, 0, 1, 0, at.y, 0, 0, 1, at.z});
  }
  v1::Array& array = *rig.mutable_rest_local();
  array.set_type(v1::ARRAY_TYPE_FLOAT32);
  array.set_columns(12);
  array.set_rows(skeleton.joints.size());
  array.set_data(local.data(), local.size() * sizeof(float));
}

v1::FitReport ToProto(const SkeletonFit& fitted) {
  v1::FitReport report;
  const auto facing = [](const FitFacing& from, v1::FitFacing& to) {
    to.set_residual(static_cast<float>(from.residual));
    for (const double x : {from.up.x, from.up.y, from.up.z}) to.add_up(static_cast<float>(x));
    for (const double x : {from.forward.x, from.forward.y, from.forward.z}) {
      to.add_forward(static_cast<float>(x));
    }
  };
  facing(fitted.facing, *report.mutable_facing());
  if (fitted.other) facing(*fitted.other, *report.mutable_other());
  for (const Problem& warning : fitted.warnings) {
    if (static_cast<std::size_t>(report.warnings_size()) == kWarningsListed) break;
    *report.add_warnings() = ToProto(warning);
  }
  return report;
}

}  // namespace sinew::server
