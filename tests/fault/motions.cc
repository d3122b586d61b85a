#include "tests/fault/motions.h"

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
  motion = MotionOf(Tube(size), recipe);
  const client::Character character =
      suite_.Need(client::Character::Create(client_, motion.rig, recipe), "undisturbed");
  suite_.Need(RecordSums(client_, character.session().name, motion), "undisturbed clip");
  suite_.Need(character.Release(), "undisturbed session");
  return motion;
}

}  // namespace sinew::testing
