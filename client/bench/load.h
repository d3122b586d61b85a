// load.h - several streams of one character at a time: one row of a comparison.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <stop_token>
#include <vector>

#include "client/bench/drive.h"
#include "sinew/client.h"

namespace sinew::bench {

struct LoadOptions {
  client::OutputOptions output = {};
  std::uint32_t streams = 1;
  std::uint32_t depth = 8;  // poses in flight of each
  double rate = 0;          // poses a second of all streams together; 0: a closed loop
};

struct Round {
  std::vector<Sample> samples = {};
  std::uint64_t bytes = 0, unsent = 0;  // as in Driven
  double seconds = 0;                   // as asked for, or until the last frame
  double cpu_seconds = 0;               // of this process meanwhile, all its threads
};

struct WarmUp {
  double seconds = 0;
  bool stable = false;
};

// Streams that stay open between rounds. Move only.
class Load {
 public:
  // Borrows the clip, whose poses repeat. Errors of Character::OpenStream.
  static absl::StatusOr<Load> Open(const client::Character& character, const client::ClipData& clip,
                                   const LoadOptions& options, const client::CallOptions& call);

  // Sends for `seconds`, at least `least` poses a stream, and waits for all frames. Each stream has
  // a thread of its own. A stop cancels the streams. Errors of Drive.
  absl::StatusOr<Round> Run(double seconds, std::size_t least, const std::stop_token& stop);

  // Runs in short rounds until the medians of their latency stay the same: those of the last three
  // are within a tenth, or 20 us. Ends after `longest` seconds in any case.
  absl::StatusOr<WarmUp> Warm(double longest, const std::stop_token& stop);

  // How often the library had to open a stream again.
  std::uint32_t resumed() const;

 private:
  Load(const client::ClipData& clip, const LoadOptions& options)
      : clip_(&clip), options_(options) {}

  const client::ClipData* clip_;
  LoadOptions options_;
  std::vector<client::Stream> streams_;
};

}  // namespace sinew::bench
