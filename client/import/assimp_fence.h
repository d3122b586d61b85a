// assimp_fence.h - tries a parse in a child process before it is done in this one.
//
// Assimp 5.2 crashes, loops or exhausts the memory on some damaged files: it recurses into nested
// records and cyclic node graphs, and allocates whatever a file states. A child that dies of it
// costs only the time of a second parse.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <string>

namespace sinew::client {

// Runs `work` in a fork of this process, with limits on CPU time and memory that grow with the size
// of the file, and discards its effects. Memory is not limited under a sanitizer.
// kInvalidArgument: `work` failed (its message), threw (what it said), or was killed by a signal or
// a limit ("LABEL: damaged: ..."). kResourceExhausted: no process could be started.
absl::Status TryInChild(const std::function<absl::Status()>& work, std::size_t file_bytes,
                        const std::string& label);

}  // namespace sinew::client
