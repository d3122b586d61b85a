#include "server/convert/posed_muscle.h"

#include <iterator>

namespace sinew::server {

std::string MuscleFields(std::span<const PosedMuscle> muscles) {
  v1::Frame frame;
  for (const PosedMuscle& muscle : muscles) {
    v1::PosedMuscle& proto = *frame.add_muscles();
    proto.mutable_frame()->Add(muscle.frame.m.begin(), muscle.frame.m.end());
    proto.mutable_radii()->Add(std::begin(muscle.radii), std::end(muscle.radii));
  }
  return frame.SerializeAsString();
}

}  // namespace sinew::server
