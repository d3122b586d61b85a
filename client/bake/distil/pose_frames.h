// pose_frames.h - what a bound deformer makes of poses, streamed or held for some vertices.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/distil/rig_skin.h"
#include "core/base/types.h"
#include "core/parallel/task.h"
#include "sinew/client.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

using Pose = std::vector<AffineD>;  // [J] joint to model
using Frame = std::vector<Vec3f>;   // [V]

// The frame of pose `index` of those evaluated; matrices: [bindings].
using PoseSink = std::function<absl::Status(std::size_t index, std::span<const AffineD> matrices,
                                            const Frame& frame)>;

class PoseFrames {
 public:
  PoseFrames(const Monitor& monitor, const client::RigData& rig, const RigSkin& skin,
             const client::Character& bound)
      : monitor_(monitor), rig_(rig), skin_(skin), bound_(bound) {}

  // wanted: positions or normals. Errors of StreamClip and of the sink.
  absl::Status Evaluate(const std::string& label, const std::vector<Pose>& poses,
                        const PoseSink& sink,
                        client::Attribute wanted = client::Attribute::kPositions) const;

  // Options for work on the frames; with a label, it has a progress line.
  Task::Options TaskOptions(const std::string& label = {}) const;

 private:
  const Monitor& monitor_;
  const client::RigData& rig_;
  const RigSkin& skin_;
  const client::Character& bound_;
};

// What a window of Targets may hold.
inline constexpr std::size_t kWindowBytes = std::size_t{1} << 30;

// Where some vertices are in some poses, or their normals: of as many vertices at a time as fit
// into a window. Frames are evaluated again for each window.
class Targets {
 public:
  // `frames` and `vertices` must outlive it.
  Targets(const PoseFrames& frames, std::vector<Pose> poses,
          const std::vector<std::uint32_t>& vertices,
          client::Attribute wanted = client::Attribute::kPositions)
      : frames_(frames), poses_(std::move(poses)), vertices_(vertices), wanted_(wanted) {}

  // [poses][end - begin] of the vertices [begin, end).
  absl::Status Fill(std::size_t begin, std::size_t end, std::span<Vec3f> targets);

  // Loads the vertices from `begin` on, at least to `end`. watch: also sees every frame, or null.
  absl::Status Load(std::size_t begin, std::size_t end, const PoseSink& watch = {});
  void Forget() { begin_ = end_ = 0; }

  std::size_t poses() const { return poses_.size(); }
  const std::vector<AffineD>& matrices() const { return matrices_; }  // [poses][bindings]

 private:
  const PoseFrames& frames_;
  const std::vector<Pose> poses_;
  const std::vector<std::uint32_t>& vertices_;
  const client::Attribute wanted_;
  std::size_t begin_ = 0, end_ = 0;
  std::vector<Vec3f> window_;
  std::vector<AffineD> matrices_;
};

}  // namespace sinew::bake
