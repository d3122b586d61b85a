// checked_stream.h - streams whose frames are compared, one by one, with those of an undisturbed
// server.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "sinew/client.h"
#include "tests/fault/motions.h"
#include "tests/fault/suite.h"

namespace sinew::testing {

// compressed: with the same bits as without.
client::StreamOptions CheckedOptions(std::uint32_t window = 32, bool compressed = false);

// An ordered stream. A frame that is missing, repeated, out of order or different, and a pose that
// is not accepted, are violations.
class CheckedStream {
 public:
  CheckedStream(Suite& suite, const Motion& motion, client::Stream stream)
      : suite_(suite), motion_(motion), stream_(std::move(stream)) {}

  // Sends poses and takes frames until `frames` have arrived, counted from the first. Not OK: the
  // stream has ended.
  absl::Status Advance(std::uint64_t frames);
  // Sends as many poses as the stream queues, and takes nothing.
  void Fill();
  // Waits until the stream has ended, and takes nothing; false: not within a minute.
  bool AwaitEnd();
  // Takes what arrives until the stream ends.
  absl::Status TakeRest();
  // Ends the sending side. OK: every accepted pose has its frame.
  absl::Status Finish();

  std::uint64_t taken() const { return taken_; }
  std::uint64_t sent() const { return sent_; }
  client::Stream& stream() { return stream_; }

 private:
  // False: the stream has ended.
  absl::StatusOr<bool> Take();

  Suite& suite_;
  const Motion& motion_;
  client::Stream stream_;
  std::uint64_t sent_ = 0, taken_ = 0;
};

// A thread that streams frames of a character until it is stopped, through any loss of the server.
class StreamPump {
 public:
  // ends: how its streams may end before their last frame, besides UNAVAILABLE.
  StreamPump(Suite& suite, const Motion& motion, std::string rig_bytes,
             const client::ClientOptions& options, Random dice,
             absl::StatusCode end = absl::StatusCode::kUnavailable);
  ~StreamPump() { Stop(); }
  // Needs a server: the last stream is finished.
  void Stop();

  std::uint64_t frames() const { return frames_; }
  // How often a stream was opened again.
  std::uint64_t resumed() const { return resumed_; }
  // Waits until so many frames have arrived in all; false: not within a minute.
  bool Await(std::uint64_t frames) const;

 private:
  void Run();
  void OneStream();

  Suite& suite_;
  const Motion& motion_;
  const std::string rig_bytes_;
  const client::Client client_;
  Random dice_;
  const absl::StatusCode end_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> frames_{0}, resumed_{0};
  std::thread thread_;
};

// The frame of one pose without a stream.
void CheckFrame(Suite& suite, const absl::StatusOr<client::FrameView>& view, const Motion& motion,
                std::uint64_t frame);
void CheckDeform(Suite& suite, const client::Client& client, const client::Target& target,
                 const Motion& motion, std::uint64_t frame);

}  // namespace sinew::testing
