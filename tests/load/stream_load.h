// stream_load.h - many streams at a time, each with a client thread of its own that keeps two poses
// in flight and checks every frame.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "sinew/client.h"
#include "tests/load/cast.h"
#include "tests/load/pace.h"
#include "tests/load/report.h"

namespace sinew::testing {

class StreamLoad {
 public:
  // Spreads the streams over the clients, each a connection. seed: which stream on which.
  StreamLoad(Report& report, const std::vector<client::Client>& clients, const Cast& cast,
             std::size_t streams, std::uint32_t seed);
  // Ends the sending side of all and waits: every pose that was sent has its frame.
  void Finish();
  ~StreamLoad() { Finish(); }

  std::size_t size() const { return members_.size(); }
  // Frames of each stream so far.
  std::vector<double> Frames() const;
  // Streams with the same recipe and rig size have the same name.
  std::string GroupOf(std::size_t stream) const;
  // Forgets the waits so far; the longest since, of all streams, in milliseconds.
  void ForgetWaits();
  double LongestWait() const;

 private:
  struct Member {
    const LoadSession* session = nullptr;
    const client::Client* client = nullptr;
    std::atomic<std::uint64_t> frames{0};
    std::atomic<double> longest_wait{0};
    std::thread thread = {};
  };
  void Run(Member& member);
  // False: the stream has ended.
  bool Take(Member& member, client::Stream& stream, std::uint64_t sent);

  Report& report_;
  std::atomic<bool> finishing_{false};
  std::deque<Member> members_;
};

}  // namespace sinew::testing
