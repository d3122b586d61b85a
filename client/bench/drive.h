// drive.h - sends poses into one stream, in a closed or an open loop, and times each of them.
//
// Open loop: poses are due at regular times, whatever the server does, and are timed from when they
// were due. A stall therefore shows in every pose that was due while it lasted; a generator that
// waits for the frame before it sends the next pose would count it once (coordinated omission).
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "sinew/client.h"

namespace sinew::bench {

using Clock = std::chrono::steady_clock;

// Where the latency of a pose goes. Queue, evaluate, encode and send are the server's times.
enum Part : std::uint8_t {
  kHold,      // from when it was due until the stream took it: the generator was late, or had
              // `depth` poses in flight
  kQueue,     // until a thread took it up
  kEvaluate,  // the method
  kEncode,
  kSend,    // until gRPC took the bytes; of the message before, as its own ends after its header
  kWait,    // the rest: network, gRPC, other frames in front of it
  kDecode,  // copied out of the network's buffers as float32
};
inline constexpr std::array<const char*, 7> kPartNames = {"hold", "queue", "evaluate", "encode",
                                                          "send", "wait",  "decode"};

// The times of one pose in milliseconds: from when it was due until its frame was decoded. The
// parts add up to the latency, but for the clocks of two processes.
struct Sample {
  float latency = 0;
  std::array<float, kPartNames.size()> parts{};
};

struct DriveOptions {
  std::uint32_t depth = 8;  // poses in flight at most
  // Between the times at which poses are due. Zero: a pose is due once there is room, a closed
  // loop.
  Clock::duration period{};
  Clock::time_point first = Clock::now();  // when the first pose is due
  Clock::time_point end = Clock::time_point::max();
  std::size_t least = 0;      // as many poses are sent even if they are due after the end
  std::stop_token stop = {};  // no pose follows; frames in flight still arrive
  absl::Duration patience = absl::InfiniteDuration();  // for a frame
  // The pose with this number, from 1 on; its `frame` is not used.
  std::function<client::Pose(std::uint64_t)> pose = {};
  // Looks at every frame; an error ends the drive. May be empty.
  std::function<absl::Status(std::uint64_t number, const client::FrameView& view)> check = {};
};

struct Driven {
  std::vector<Sample> samples = {};  // in the order of the poses
  std::uint64_t bytes = 0;           // of vertices, as they arrived
  std::uint64_t unsent = 0;  // poses that were due but not sent: the open loop fell so far behind
                             // that it gave up after twice its time
  Clock::time_point last = {};  // when the last frame was decoded
};

// Drives an ordered stream until all frames have arrived, and leaves it open.
//   kDeadlineExceeded: a frame took longer than `patience`. Errors of Stream::Send and
//   Stream::Next, and of a pose that could not be used.
absl::StatusOr<Driven> Drive(client::Stream& stream, const DriveOptions& options);

}  // namespace sinew::bench
