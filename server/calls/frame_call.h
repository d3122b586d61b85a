// frame_call.h - the sending half of a call that answers with frames: one write at a time, ended
// once.
//
// Members are guarded by mutex_, except where a function says otherwise. Callbacks of gRPC, jobs of
// the arena and timers meet here.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "server/calls/call.h"
#include "server/frames/outbox.h"
#include "server/runtime.h"

namespace sinew::server {

// Reactor: a gRPC server reactor that writes ByteBuffers.
template <class Reactor>
class FrameCall : public Reactor {
 protected:
  using Clock = std::chrono::steady_clock;

  FrameCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : runtime_(runtime), context_(context), call_(runtime, method, context) {}

  // Starts a write if none is under way and something waits.
  void WriteNext() {
    if (writing_ || ended_ || outbox_.empty()) return;
    // The reactor's message is one more reference to the buffers: it lives until the write is done.
    const Outbox::Taken taken = outbox_.Next(previous_send_ns_, message_);
    runtime_.metrics.frames.Increment(static_cast<double>(taken.frames));
    runtime_.metrics.frame_bytes.Increment(static_cast<double>(taken.bulk_bytes));
    writing_ = true;
    write_start_ = Clock::now();
    this->StartWrite(&message_);
  }

  // From OnWriteDone. False: the call has been ended.
  bool Wrote(bool ok) {
    writing_ = false;
    message_.Clear();
    const auto elapsed = Clock::now() - write_start_;
    previous_send_ns_ = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    runtime_.metrics.send_seconds.Observe(static_cast<double>(previous_send_ns_) * 1e-9);
    if (!ok) End(absl::CancelledError("call: the client is gone"));
    FinishOnce();
    return !ended_;
  }

  // Ends the call, the first time. What waits is dropped; a write under way is let out first, so
  // that the status arrives with its details.
  void End(const absl::Status& status) {
    if (ended_) return;
    ended_ = true;
    outbox_.Clear();
    permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
    final_ = call_.End(status);
    if (!writing_ || status.code() == absl::StatusCode::kCancelled) FinishOnce();
  }

  // From timers: a write that the reader has blocked for longer than `limit` would keep every
  // status back for ever, so the call is cut off; details are lost then.
  void CutIfBlocked(Clock::time_point now, std::chrono::duration<double> limit) {
    if (!writing_ || now - write_start_ <= limit) return;
    End(Stalled("nothing has been read", limit.count()));
    if (finished_) return;
    FinishOnce();
    CutOff(*context_, final_);
  }

  Runtime& runtime_;
  grpc::CallbackServerContext* const context_;
  std::mutex mutex_;
  Call call_;
  ConcurrencyLimit::Permit permit_;
  Outbox outbox_;
  bool writing_ = false, ended_ = false;  // ended: nothing starts any more
  Clock::time_point write_start_ = Clock::now();
  std::uint64_t previous_send_ns_ = 0;

 private:
  void FinishOnce() {
    if (!ended_ || finished_) return;
    finished_ = true;
    this->Finish(final_);
  }

  grpc::ByteBuffer message_;
  grpc::Status final_;
  bool finished_ = false;
};

}  // namespace sinew::server
