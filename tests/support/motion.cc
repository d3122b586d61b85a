#include "tests/support/motion.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>
#include <utility>

namespace sinew::testing {

Motion MotionOf(client::Model model, std::string recipe) {
  return {.rig = std::move(model.rig),
          .recipe = std::move(recipe),
          .poses = model.clip.frames,
          .joints = std::move(model.clip.joint_transforms),
          .sums = {}};
}

absl::Status RecordSums(const client::Client& client, const std::string& session, Motion& motion) {
  motion.sums.clear();
  return client.DeformClip({.session = session}, motion.Clip(), {.output = CheckedOutput()},
                           [&](const client::StreamItem& item) {
                             if (item.problem.ok()) motion.sums.push_back(SumOf(item.view));
                             return item.problem;
                           });
}

std::span<const float> Motion::Pose(std::uint64_t frame) const {
  const std::size_t floats = joints.size() / poses;
  return std::span(joints).subspan((frame - 1) % poses * floats, floats);
}

client::OutputOptions CheckedOutput() {
  return {.attributes = {client::Attribute::kPositions, client::Attribute::kNormals}};
}

std::uint64_t SumOf(const client::FrameView& frame) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const client::Attribute attribute : CheckedOutput().attributes) {
    const client::ByteSpans& bytes = frame.bytes(attribute);
    const std::uint64_t size = bytes.size();
    XXH3_64bits_update(state.get(), &size, sizeof size);
    for (const auto& span : bytes.spans()) {
      XXH3_64bits_update(state.get(), span.data(), span.size());
    }
  }
  return XXH3_64bits_digest(state.get());
}

std::string LabelledRig(client::RigData rig, const std::string& label) {
  rig.label = label;
  return client::EncodeRig(rig).value();
}

client::ClientOptions Direct(const std::string& address) {
  return {.address = address,
          .deadline = absl::Seconds(60),
          .retry = {.max_attempts = 1, .resume_for = absl::ZeroDuration()},
          .piece_bytes = 16 << 10};
}

client::ClientOptions Patient(const std::string& address) {
  return {.address = address,
          .retry = {.max_attempts = 1000,
                    .resume_for = absl::Minutes(1),
                    .initial_backoff = absl::Milliseconds(5),
                    .max_backoff = absl::Milliseconds(50)}};
}

}  // namespace sinew::testing
