// watch_stream.h - WatchStream: the newest frames of a published stream.
#pragma once

#include <cstdint>
#include <memory>

#include "server/calls/frame_call.h"
#include "server/frames/broadcast.h"

namespace sinew::server {

class WatchStreamCall final : public FrameCall<WatchStreamCall>, public StreamViewer {
 public:
  using FrameCall::FrameCall;

  void Wake() override;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { End(Draining()); }
  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pump() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::shared_ptr<Broadcast> stream_ ABSL_GUARDED_BY(mutex_);  // null: not entered, or left
  Quota::Permit frames_held_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t seen_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sinew::server
