// flow_window.h - the rules of one stream's flow: which poses are taken, which may start. No
// threads, no gRPC.
//
// A place in the window is taken when a pose has been evaluated (Start) and given back when the
// client's `received` reaches its frame. A pose is evaluated only while a place is free, one at a
// time, so at most `window` frames are anywhere between evaluation and acknowledgement.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace sinew::server {

class FlowWindow {
 public:
  // latest: a newer pose replaces one that has not started, and nothing starts while a frame is
  // ready.
  FlowWindow(bool latest, std::size_t window, std::size_t backlog)
      : latest_(latest), window_(window), backlog_(backlog) {}

  // A pose has arrived while `waiting` others wait. kInvalidArgument: its frame does not rise;
  // kResourceExhausted: more poses beyond `received` than window + backlog.
  absl::Status Take(std::uint64_t frame, std::size_t waiting);
  // Whether a waiting pose gives way to the one that has just been taken.
  bool replaces() const { return latest_; }

  // The client says it has consumed everything up to `frame`. Before the first pose it names where
  // an earlier stream ended. kInvalidArgument: a frame that has not started yet.
  absl::Status Acknowledge(std::uint64_t frame);

  // Whether the next pose may start while `ready` frames wait to be written.
  bool MayStart(std::size_t ready) const;
  void Start(std::uint64_t frame);

  std::size_t size() const { return window_; }
  // Poses that can wait at a time, besides the one that is being evaluated.
  std::size_t most_waiting() const { return latest_ ? 1 : window_ + backlog_; }
  bool full() const { return unacknowledged_.size() >= window_; }
  std::size_t unacknowledged() const { return unacknowledged_.size(); }
  std::uint64_t last_taken() const { return last_taken_; }

 private:
  static constexpr std::size_t kReady = 2;  // frames that wait for the writer, ORDERED

  const bool latest_;
  const std::size_t window_, backlog_;
  std::deque<std::uint64_t> unacknowledged_;  // rising
  std::uint64_t last_taken_ = 0, last_started_ = 0;
};

}  // namespace sinew::server
