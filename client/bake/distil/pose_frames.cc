#include "client/bake/distil/pose_frames.h"

#include <algorithm>

#include "client/bake/distil/pose_set.h"
#include "client/bake/passes/clip_stream.h"
#include "core/base/status.h"

namespace sinew::bake {

absl::Status PoseFrames::Evaluate(const std::string& label, const std::vector<Pose>& poses,
                                  const PoseSink& sink, client::Attribute wanted) const {
  const client::ClipData clip = ClipOf(rig_, poses);
  const std::size_t floats = 12 * skin_.skeleton.joints();
  Frame frame(skin_.vertices());
  std::size_t index = 0;
  client::OutputOptions output{.attributes = {client::Attribute::kPositions}};
  const bool has_normals = wanted == client::Attribute::kNormals;
  if (has_normals) {
    // A frame has positions in any case: then few bytes of them.
    output.attributes.push_back(wanted);
    output.encodings = {client::Encoding::kQ16, client::Encoding::kFloat32};
  }
  return StreamClip(
      monitor_, bound_, clip, {.label = label, .output = output},
      [&](const client::FrameView& view) -> absl::Status {
        const std::span out(reinterpret_cast<float*>(frame.data()), 3 * frame.size());
        SINEW_RETURN_IF_ERROR(has_normals ? view.CopyNormals(out) : view.CopyPositions(out));
        const auto joints = std::span(clip.joint_transforms).subspan(index * floats, floats);
        return sink(index++, skin_.Matrices(ToMatrices(joints)), frame);
      });
}

Task::Options PoseFrames::TaskOptions(const std::string& label) const {
  Task::Options options{.stop = monitor_.call().stop};
  if (label.empty()) return options;
  options.progress = [line = monitor_.MakeProgress(label)](double part) { line->Update(part); };
  return options;
}

absl::Status Targets::Fill(std::size_t begin, std::size_t end, std::span<Vec3f> targets) {
  if (begin < begin_ || end > end_) SINEW_RETURN_IF_ERROR(Load(begin, end));
  for (std::size_t k = 0; k < poses_.size(); ++k) {
    const Vec3f* const row = &window_[k * (end_ - begin_) + begin - begin_];
    std::copy(row, row + (end - begin), &targets[k * (end - begin)]);
  }
  return absl::OkStatus();
}

absl::Status Targets::Load(std::size_t begin, std::size_t end, const PoseSink& watch) {
  const std::size_t fit = kWindowBytes / (poses_.size() * sizeof(Vec3f));
  begin_ = begin;
  end_ = std::max(end, std::min(vertices_.size(), begin + fit));
  const std::size_t count = end_ - begin_;
  window_.resize(poses_.size() * count);
  const auto keep = [&](std::size_t k, std::span<const AffineD> matrices, const Frame& frame) {
    if (k == 0) matrices_.clear();
    matrices_.insert(matrices_.end(), matrices.begin(), matrices.end());
    for (std::size_t p = begin_; p < end_; ++p) {
      window_[k * count + p - begin_] = frame[vertices_[p]];
    }
    return watch ? watch(k, matrices, frame) : absl::OkStatus();
  };
  return frames_.Evaluate("Evaluate", poses_, keep, wanted_);
}

}  // namespace sinew::bake
