// shape_fit.h - corrective shapes of a skin: morph targets with normals, and what drives them.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/bake/distil/pose_frames.h"
#include "client/bake/distil/pose_set.h"
#include "client/bake/distil/rig_skin.h"
#include "client/bake/distil/shape_drivers.h"
#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/distil/corrective_shapes.h"
#include "core/distil/pose_samples.h"
#include "core/examples/pose_examples.h"
#include "core/mesh/weld.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// What shapes correct: linear blend with these weights.
struct PlayedSkin {
  const client::RigData& rig;
  const RigSkin& skin;
  const TurnMeter& meter;  // of the bind pose
  const PoseSet& set;
  const WeldedPoints& points;
  const Rows<JointWeight>& weights;  // [points] of bindings
};

struct SkinShapes {
  ShapeDrivers drivers;                  // of shapes that move points
  std::vector<CorrectiveShape> normals;  // [shapes] what each adds to the normals of vertices
  std::vector<Vec3d> rest_normals;       // [V] of the file
  std::size_t left_out = 0;              // shapes that fit no more
};

// Shapes of single joints that are fitted together, those with most energy.
inline constexpr std::size_t kMostSingleShapes = 4096;

// The most shapes that a skin of so many joints can get.
std::size_t MostShapes(std::size_t joints, std::size_t max_shapes);

//    max_shapes  keeps those that do most; 0 = all
//    seed        of the random poses beside those of the set
// Errors of PoseFrames::Evaluate, kCancelled.
absl::StatusOr<SkinShapes> FitShapes(const PoseFrames& frames, const PlayedSkin& played,
                                     std::size_t max_shapes, std::uint64_t seed);

}  // namespace sinew::bake
