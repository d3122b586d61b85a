#include "client/import/fbx_motion.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::client {
namespace {

class FbxMotion final : public Motion {
 public:
  FbxMotion(FbxScene scene, std::size_t stack, double begin, std::vector<std::uint32_t> channels)
      : scene_(std::move(scene)),
        anim_(scene_->anim_stacks.data[stack]->anim),
        begin_(begin),
        channels_(std::move(channels)) {}

  absl::Status Evaluate(const AnimatedScene&, double seconds, ScenePose& pose) const override {
    ufbx_error error;
    const std::unique_ptr<ufbx_scene, void (*)(ufbx_scene*)> posed(
        ufbx_evaluate_scene(scene_.get(), anim_, OnTick(begin_ + seconds), nullptr, &error),
        ufbx_free_scene);
    if (posed == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("FBX: ", DescribeFbxError(error)));
    }
    for (std::size_t n = 0; n < posed->nodes.count; ++n) {
      pose.local[n] = FbxLocalMatrix(*posed->nodes.data[n]);
      pose.global[n] = FbxMatrix(posed->nodes.data[n]->node_to_world);
    }
    for (std::size_t k = 0; k < channels_.size(); ++k) {
      pose.controls[k] = static_cast<float>(posed->blend_channels.data[channels_[k]]->weight);
    }
    return absl::OkStatus();
  }

 private:
  // Keys are at multiples of the file's tick. The time of a frame, in double, can come out just
  // before the key that was written for it, where a stepped curve has the value before.
  double OnTick(double seconds) const {
    const auto ticks = static_cast<double>(scene_->metadata.ktime_second);
    return ticks > 0 ? std::round(seconds * ticks) / ticks : seconds;
  }

  const FbxScene scene_;
  const ufbx_anim* const anim_;
  const double begin_;
  const std::vector<std::uint32_t> channels_;
};

}  // namespace

AffineD FbxLocalMatrix(const ufbx_node& node) {
  const AffineD local = FbxMatrix(node.node_to_parent);
  if (node.parent == nullptr || node.inherit_mode == UFBX_INHERIT_MODE_NORMAL) return local;
  const AffineD parent = FbxMatrix(node.parent->node_to_world);
  if (Determinant(Linear(parent)) == 0) return local;
  return Compose(Inverse(parent), FbxMatrix(node.node_to_world));
}

void AddFbxClips(const FbxScene& scene, std::vector<std::uint32_t> channels,
                 SceneBuilder& builder) {
  for (std::size_t s = 0; s < scene->anim_stacks.count; ++s) {
    const ufbx_anim_stack& stack = *scene->anim_stacks.data[s];
    ClipInfo info{.name = ToString(stack.name)};
    double first = 0, last = 0;
    for (const ufbx_anim_layer* layer : stack.layers) {
      info.channels += layer->anim_props.count;
      for (const ufbx_anim_value* value : layer->anim_values) {
        for (const ufbx_anim_curve* curve : value->curves) {
          if (curve == nullptr || curve->keyframes.count == 0) continue;
          first = info.keys == 0 ? curve->min_time : std::min(first, curve->min_time);
          last = info.keys == 0 ? curve->max_time : std::max(last, curve->max_time);
          info.keys = std::max(info.keys, curve->keyframes.count);
        }
      }
    }
    const bool has_take = stack.time_end > stack.time_begin;
    const double begin = has_take ? stack.time_begin : first;
    info.end = has_take ? stack.time_end - stack.time_begin : last - first;
    if (!std::isfinite(begin) || !std::isfinite(info.end)) {
      builder.out.problems.push_back(Lost("a clip whose times are not finite",
                                          absl::StrCat("animations[", s, "] '", info.name, "'")));
      continue;
    }
    builder.AddClip(std::move(info), std::make_shared<FbxMotion>(scene, s, begin, channels));
  }
}

}  // namespace sinew::client
