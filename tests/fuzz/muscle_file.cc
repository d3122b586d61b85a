// muscle_file.cc - muscles as JSON, for --muscles, and what the server makes of those accepted.
#include "client/bake/character/muscle_file.h"

#include "client/lib/codec/rig_codec.h"
#include "client/models/models.h"
#include "server/convert/rig.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;

bool IsFinite(const client::Muscle& muscle) {
  return fuzz::AllFinite(muscle.origin.at) && fuzz::AllFinite(muscle.insertion.at) &&
         fuzz::AllFinite(std::array{muscle.origin_tendon, muscle.insertion_tendon, muscle.width,
                                    muscle.depth, muscle.warp, muscle.tension,
                                    muscle.fat.value_or(0)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const client::RigData tube =
      client::Tube({.rings = 3, .segments = 3, .joints = 3, .frames = 1}).rig;
  client::RigData rig = tube;
  const absl::Status read = bake::ReadMuscles(fuzz::Text(data, size), rig);
  if (!read.ok()) {
    fuzz::RequireRefusal(read, {absl::StatusCode::kInvalidArgument, absl::StatusCode::kNotFound,
                                absl::StatusCode::kAlreadyExists});
    return 0;
  }
  for (const client::Muscle& muscle : rig.muscles) {
    fuzz::Require(IsFinite(muscle), "finite numbers");
    fuzz::Require(muscle.origin.joint < rig.joints.size(), "a joint of the rig");
  }
  fuzz::Require(client::CheckShapes(rig).ok(), "a rig that can be sent");
  const std::string bytes = client::ToMessage(rig).SerializeAsString();
  const absl::StatusOr<server::ConvertedRig> converted = server::ConvertRig(bytes, {});
  if (!converted.ok()) {
    fuzz::RequireRefusal(converted.status(), {absl::StatusCode::kInvalidArgument,
                                              absl::StatusCode::kResourceExhausted});
  }
  return 0;
}
