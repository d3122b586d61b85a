// posed_muscle.h - posed muscles to protobuf.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/muscle/posed_muscle.h"
#include "sinew/v1/frame.pb.h"

namespace sinew::server {

// What one muscle adds to a serialised frame.
inline constexpr std::size_t kMuscleBytes = 67;

// The bytes of Frame.muscles, [muscles * kMuscleBytes]: appended to a serialised frame they are its
// muscles.
std::string MuscleFields(std::span<const PosedMuscle> muscles);

}  // namespace sinew::server
