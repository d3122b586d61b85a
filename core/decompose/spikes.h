// spikes.h - vertices that leave their neighbours in a single frame.
#pragma once

#include <optional>

#include "core/base/problem.h"
#include "core/decompose/sequence.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

// Names the furthest of the points, alone or with one neighbour, that leave the others around them
// in a single frame, which is mostly a mistake of a simulation or scan, and counts the others:
// vertices at one place that move together are one point. Bones follow it, so that errors do not
// show it. None for fewer than three frames; none that counts if cancelled.
std::optional<Problem> FindSpikes(const Sequence& sequence, const Task& task);

}  // namespace sinew::decompose
