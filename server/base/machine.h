// machine.h - what this process may use of its machine: cores and memory, as the affinity of the
// process and its control groups (cgroups v1 and v2) allow.
#pragma once

#include <cstdint>
#include <string>

namespace sinew::server {

struct Machine {
  // Cores that can compute at a time, >= 1: those of the affinity mask that the process started
  // with, as oneTBB counts them, and at most the CPU quota of every control group above it, rounded
  // up, which oneTBB does not know.
  std::uint64_t cores = 1;
  // The smallest of physical memory, the limits of the control groups and RLIMIT_AS.
  std::uint64_t memory_bytes = 0;
};

// How many threads this process can start besides those it has, up to `most`, if `reserved` bytes
// of its address space are used for other things: all limits count, RLIMIT_NPROC, pids.max,
// RLIMIT_AS and those of the machine. Starts them and ends them again.
std::uint64_t StartableThreads(std::uint64_t most, std::uint64_t reserved);

// The limits of threads and address space that are set, for messages: "RLIMIT_NPROC 48, pids.max
// 64"; "none" if none is.
std::string ThreadLimits(const std::string& root = "");

// root: a folder with `proc` and `sys`, "" = those of this system. What cannot be read limits
// nothing. Source of the files: cgroups(7), Linux's admin-guide/cgroup-v2 and cgroup-v1.
Machine ReadMachine(const std::string& root = "");

}  // namespace sinew::server
