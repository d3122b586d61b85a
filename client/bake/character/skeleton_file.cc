#include "client/bake/character/skeleton_file.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "client/bake/base/quantity.h"
#include "client/import/placed_mesh.h"
#include "client/rig/rig_units.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::bake {
namespace {

std::string Text(const client::Bounds& b) {
  // SixDigits, not StrFormat: g++ 12 -O3 breaks down over six doubles in one call.
  return absl::StrCat("(", absl::SixDigits(b[0]), ", ", absl::SixDigits(b[1]), ", ",
                      absl::SixDigits(b[2]), ") to (", absl::SixDigits(b[3]), ", ",
                      absl::SixDigits(b[4]), ", ", absl::SixDigits(b[5]), ")");
}

// Z up to Y up sends (x, y, z) to (x, z, -y).
constexpr AffineD kZToY = {{1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0}};
constexpr AffineD kYToZ = {{1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0}};

std::vector<std::string> Match(const client::RigData& skeleton, client::RigData& mesh) {
  std::vector<std::string> notes;
  AffineD change;
  double scale = 1;
  if (mesh.meters_per_unit > 0 && skeleton.meters_per_unit > 0) {
    scale = mesh.meters_per_unit / skeleton.meters_per_unit;
  }
  if (std::abs(scale - 1) < 1e-6) scale = 1;
  if (mesh.meters_per_unit == 0 && skeleton.meters_per_unit > 0) {
    notes.push_back(absl::StrCat("the mesh names no unit: taken for the skeleton's, ",
                                 NumberText(skeleton.meters_per_unit), " m"));
  }
  if (scale != 1) {
    notes.push_back(
        absl::StrCat("the mesh is scaled by ", NumberText(scale), " to the skeleton's units"));
  }
  const bool known = mesh.up_axis != client::UpAxis::kUnspecified &&
                     skeleton.up_axis != client::UpAxis::kUnspecified;
  const bool turned = known && mesh.up_axis != skeleton.up_axis;
  if (turned) {
    change = skeleton.up_axis == client::UpAxis::kY ? kZToY : kYToZ;
    notes.push_back(absl::StrCat("the mesh is turned to ",
                                 skeleton.up_axis == client::UpAxis::kY ? "Y" : "Z",
                                 " up, as the skeleton is"));
  }
  for (double& value : change.m) value *= static_cast<float>(scale);
  for (client::Mesh& part : mesh.meshes) client::PlaceMesh(change, part, {});
  mesh.meters_per_unit = skeleton.meters_per_unit;
  mesh.up_axis = skeleton.up_axis;
  return notes;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> AttachSkeleton(const CharacterFile& skeleton,
                                                        CharacterFile& mesh) {
  if (!mesh.rig.joints.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("skeleton: ", mesh.label, " has ",
                                                   CountedText(mesh.rig.joints.size(), "joint"),
                                                   " of its own, need a file without"));
  }
  if (skeleton.rig.joints.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("skeleton: ", skeleton.label, " has no joints, need some"));
  }
  std::vector<std::string> notes = Match(skeleton.rig, mesh.rig);
  const client::Bounds skin = client::CountRig(mesh.rig).bounds,
                       joints = client::JointBounds(skeleton.rig);
  const std::string doubt = client::SuspiciousUnits(skin, joints);
  for (std::size_t c = 0; c < 3; ++c) {
    // Also false for numbers that are none.
    if (joints[c] <= skin[c + 3] && skin[c] <= joints[c + 3]) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "skeleton: the joints of ", skeleton.label, " are at ", Text(joints), ", the mesh of ",
        mesh.label, " at ", Text(skin), " (in the skeleton's units), need boxes that overlap",
        doubt.empty() ? "" : "; ", doubt));
  }
  mesh.rig.joints = skeleton.rig.joints;
  mesh.rig.rest_local = skeleton.rig.rest_local;
  SINEW_ASSIGN_OR_RETURN(mesh.rig_bytes, client::EncodeRig(mesh.rig));
  return notes;
}

}  // namespace sinew::bake
