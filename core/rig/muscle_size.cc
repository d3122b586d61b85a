#include "core/rig/muscle_size.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/rig/bind_pose.h"
#include "core/rig/bones.h"
#include "core/rig/rig.h"

namespace sinew {
namespace {

constexpr double kDoubtfulPart = 0.05;   // times the diagonal, outside the bounding box
constexpr double kThinPart = 1.0 / 300;  // times the shortest bone of the muscle's joints
// Tolerance for rounded inverse bind matrices, relative to 1 and to the diagonal.
constexpr double kSameSpace = 1e-3;

using Axes = std::array<double, 3>;

Axes AxesOf(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

// How far a box of half size `around` about `point` extends beyond the mesh's bounding box; at most
// 0 if inside.
double Beyond(const Mesh& mesh, const Vec3d& point, const Vec3d& around) {
  const Axes low = AxesOf(mesh.minimum()), high = AxesOf(mesh.maximum());
  const Axes at = AxesOf(point), half = AxesOf(around);
  double beyond = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    beyond = std::max({beyond, low[c] - (at[c] - half[c]), at[c] + half[c] - high[c]});
  }
  return beyond;
}

Vec3d HalfBox(const MuscleState& state) {
  Axes half;
  for (std::size_t c = 0; c < 3; ++c) {
    double squared = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      squared += std::pow(state.frame.m[4 * c + k] * state.radii[k], 2);
    }
    half[c] = std::sqrt(squared);
  }
  return {half[0], half[1], half[2]};
}

bool MeshesShareASpace(const Rig& rig, const std::vector<AffineD>& bind_pose) {
  for (const AffineD& to_pose : ToBindPose(rig, bind_pose)) {
    for (std::size_t k = 0; k < 12; ++k) {
      const double size = k % 4 == 3 ? rig.mesh().diagonal() : 1;
      if (std::abs(to_pose.m[k] - AffineD{}.m[k]) > kSameSpace * size) return false;
    }
  }
  return true;
}

// Length of the shortest bone of the muscle's joints; infinite if none has one.
double BoneOf(const Bones& bones, const MuscleTables& tables, const MuscleRow& row) {
  double shortest = INFINITY;
  for (std::uint32_t p = row.first_point; p < row.first_point + row.points; ++p) {
    const double length = Length(bones.Direction(tables.points[p].joint));
    if (length > 0) shortest = std::min(shortest, length);
  }
  return shortest;
}

}  // namespace

absl::Status CheckMuscleSizes(std::span<const Muscle> muscles, const MuscleTables& tables,
                              double diagonal) {
  if (!(diagonal > 0)) return absl::OkStatus();
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    const Muscle& muscle = muscles[m];
    const struct {
      const char *field, *what;
      double value, most;
    } lengths[] = {
        {".width", "", muscle.width, diagonal},
        {".depth", "", muscle.depth, diagonal},
        {".fat", "", muscle.fat.value_or(0), diagonal},
        {".wrap.radius", "", muscle.wrap.radius, diagonal},
        {".insertion", "a belly of ", tables.rows[m].belly, 2 * diagonal},  // two semi-axes
    };
    for (const auto& length : lengths) {
      if (length.value <= length.most) continue;
      return InvalidArgument("rig.muscles[", m, "]", length.field, ": got ", length.what,
                             length.value, ", need at most ", length.most,
                             length.most > diagonal ? ", twice" : ",",
                             " the diagonal of the mesh's bounding box");
    }
  }
  return absl::OkStatus();
}

std::vector<Problem> SuspiciousMuscles(const Rig& rig) {
  std::vector<Problem> suspicious;
  const double diagonal = rig.mesh().diagonal();
  if (rig.muscles().empty() || !(diagonal > 0)) return suspicious;
  const std::vector<AffineD> pose = BindPose(rig);
  if (!MeshesShareASpace(rig, pose)) return suspicious;
  const Bones bones(rig, pose);
  const std::vector<float> slack(rig.controls().size());
  for (std::size_t m = 0; m < rig.muscles().size(); ++m) {
    const Muscle& muscle = rig.muscles()[m];
    const double bone = BoneOf(bones, rig.muscle_tables(), rig.muscle_tables().rows[m]);
    if (std::isfinite(bone) && std::max(muscle.width, muscle.depth) < kThinPart * bone) {
      suspicious.push_back(
          {Severity::kWarning, absl::StrCat("muscles[", m, "]"),
           absl::StrCat("'", muscle.name, "' has semi-axes of ", absl::SixDigits(muscle.width),
                        " and ", absl::SixDigits(muscle.depth), " beside a bone of ",
                        absl::SixDigits(bone),
                        ": are its lengths in another unit than the character's, such as metres "
                        "beside millimetres?")});
      continue;
    }
    const MuscleState state = PoseMuscle(rig.muscle_tables(), m, pose, slack);
    double beyond = Beyond(rig.mesh(), Translation(state.frame), HalfBox(state));
    for (const PathNode& node : state.path) {
      beyond = std::max(beyond, Beyond(rig.mesh(), node.point, {}));
    }
    if (beyond <= kDoubtfulPart * diagonal) continue;
    suspicious.push_back(
        {Severity::kWarning, absl::StrCat("muscles[", m, "]"),
         absl::StrCat("'", muscle.name, "' extends ", absl::SixDigits(beyond),
                      " beyond the character's bounding box, whose diagonal is ",
                      absl::SixDigits(diagonal), "; check its lengths and joints")});
  }
  return suspicious;
}

}  // namespace sinew
