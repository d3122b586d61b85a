#include "tests/fault/motions.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>
#include <utility>

#include "client/models/models.h"

namespace sinew::testing {
namespace {

// Not a multiple of any window, so that a frame of the wrong pose cannot have the right bits.
constexpr std::uint32_t kPoses = 61;

client::Model Tube(Size size) {
  switch (size) {
    case Size::kSmall:
      return client::Tube({.rings = 8, .segments = 8, .joints = 3, .frames = kPoses});
    case Size::kMedium:
      return client::Tube({.rings = 20, .segments = 16, .frames = kPoses});
    case Size::kLarge:
      return client::Tube({.rings = 100, .segments = 40, .joints = 8, .frames = kPoses});
    case Size::kHuge:
      return client::Tube({.rings = 400, .segments = 100, .joints = 8, .frames = kPoses});
  }
  return {};
}

}  // namespace

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

client::Client Connected(Suite& suite, const client::ClientOptions& options) {
  return suite.Need(client::Client::Connect(options), "connect");
}

Undisturbed::Undisturbed(Suite& suite)
    : suite_(suite),
      server_({"--http", "off", "--log-level", "error"}),
      client_(Connected(suite, Direct(server_.address()))) {}

const Motion& Undisturbed::Get(Size size, const std::string& recipe) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = motions_.try_emplace({size, recipe});
  Motion& motion = found->second;
  if (!is_new) return motion;
  client::Model model = Tube(size);
  motion = {.rig = std::move(model.rig),
            .recipe = recipe,
            .poses = model.clip.frames,
            .joints = std::move(model.clip.joint_transforms),
            .sums = {}};
  const client::Character character =
      suite_.Need(client::Character::Create(client_, motion.rig, recipe), "undisturbed");
  suite_.Need(character.DeformClip(motion.Clip(), {.output = CheckedOutput()},
                                   [&](const client::StreamItem& item) {
                                     if (item.problem.ok()) motion.sums.push_back(SumOf(item.view));
                                     return item.problem;
                                   }),
              "undisturbed clip");
  suite_.Need(character.Release(), "undisturbed session");
  return motion;
}

}  // namespace sinew::testing
