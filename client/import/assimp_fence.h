// assimp_fence.h - tries a parse in a child process before it is done in ours.
//
// Assimp 5.2 crashes, loops or fills the memory on some damaged files, which no check of ours can
// foresee in full. A child that dies of it costs nothing but the time of a second parse.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <functional>

namespace sinew::client {

// Runs `work` in a fork of this process and discards what it does; the limits grow with the size of
// the file. Where no process can be forked it returns OK without a trial. Memory is not limited
// under a sanitizer. kInvalidArgument: the child was killed by a signal, its memory limit or the
// time limit.
absl::Status TryInChild(const std::function<void()>& work, std::size_t file_bytes);

}  // namespace sinew::client
