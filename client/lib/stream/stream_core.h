// stream_core.h - what a Stream does: one thread that owns the call, reads it, and opens it again
// when it breaks.
//
// Poses and frames are those of sinew/stream.h, whose words on order, errors and resumption hold. A
// pose is serialised once and kept until its frame has come; what came is acknowledged when the
// caller has taken it, which holds the server back. The state below is guarded by `mutex_`; a
// function that takes a Lock wants it held, the others take it themselves.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "client/lib/rpc/connection.h"
#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/pose_queue.h"
#include "sinew/stream.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::client {

// Makes what the server lost again and returns the target to use from then on.
using RestoreTarget = std::function<absl::StatusOr<Target>(const std::stop_token&)>;

// Thread-safe. Writes are started by whichever thread has something to say, reads by the stream's
// thread.
class StreamCore {
 public:
  // restore  empty: a lost session ends the stream
  StreamCore(std::shared_ptr<Connection> connection, v1::StreamOpen open,
             const StreamOptions& options, RestoreTarget restore);
  ~StreamCore();

  // Opens the stream and waits until the server has accepted it. Once. kDeadlineExceeded: not
  // within the call's deadline; any other error: how the opening ended, after its retries.
  absl::Status Start(const CallOptions& call);

  // As the members of Stream.
  absl::StatusOr<std::uint64_t> Send(const Pose& pose);
  std::size_t room() const;
  absl::StatusOr<std::optional<StreamItem>> Next(absl::Duration timeout);
  void Finish();
  void Cancel();  // from any thread; wakes Next
  StreamInfo info() const;

 private:
  struct Call;  // one RPC: its context, queue and what is being written
  using Lock = std::unique_lock<std::mutex>;

  // The stream's thread: calls one after the other until one ends for good.
  void Run();
  absl::Status RunCall();
  // Events of one call until nothing is in flight. `status` is what the server ended it with,
  // `failure` why this side gave it up.
  void Pump(Call& call, grpc::Status& status, absl::Status& failure);
  void OnWritten(Call& call, bool ok);
  bool OnRead(Call& call, const grpc::ByteBuffer& buffer, FrameAssembler& assembler,
              absl::Status& failure);
  absl::Status Settle(absl::Status status);
  absl::Status RestoreLost();  // replaces the target of `open_`

  // Takes answers to probes, which Send adds among poses without output, off the front.
  void SkipProbes(const Lock& lock);
  // Writes what waits, unless a write is in flight: gRPC takes one at a time.
  void StartWrites(const Lock& lock);
  std::vector<grpc::Slice> NextMessage(const Lock& lock);
  bool NothingMoreToSend(const Lock& lock) const;

  // What a reply brings. Errors end the call: frames that nobody asked for, damaged ones
  // (kDataLoss), another server's determinism digest (kFailedPrecondition).
  absl::Status TakeReply(const grpc::ByteBuffer& buffer, FrameAssembler& assembler);
  absl::Status TakeOpened(const v1::StreamOpened& opened);
  absl::Status TakeItem(std::uint64_t frame, absl::Status problem, std::shared_ptr<FrameData> data);

  const std::shared_ptr<Connection> connection_;
  const bool verify_;
  const RestoreTarget restore_;
  v1::StreamOpen open_;  // the stream thread's once it runs

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PoseQueue poses_;
  std::deque<StreamItem> ready_;  // an empty view without a problem: a probe, not for the caller
  StreamInfo info_;
  Call* call_ = nullptr;     // while one is open
  bool opened_ = false;      // at least once
  bool progressed_ = false;  // this call has brought something
  bool finishing_ = false, cancelled_ = false, draining_ = false;
  std::uint64_t last_answered_ = 0;  // while draining: no pose beyond it will be answered
  std::optional<absl::Status> ended_;

  std::stop_source stop_;
  std::thread thread_;
};

// Opens a stream on `target`; what Client::OpenStream and Character::OpenStream share.
absl::StatusOr<Stream> OpenStream(std::shared_ptr<Connection> connection, const Target& target,
                                  const StreamOptions& options, RestoreTarget restore,
                                  const CallOptions& call);

}  // namespace sinew::client
