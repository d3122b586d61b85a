// stream_core.h - implements Stream: a thread opens the call, serves it, and opens it again after a
// break. While at most one pose is in flight, Send and Next serve the call themselves.
//
// Order, errors and resumption are those of sinew/stream.h. A pose is serialised once and kept
// until its frame has arrived. A frame is acknowledged when the caller has received it, which
// limits what the server sends. A stream that prefers no compression and allows some drains and
// opens again once the line is slow. `mutex_` guards the state below: functions with a Lock
// parameter require it, the others acquire it.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "client/lib/rpc/connection.h"
#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/line_rate.h"
#include "client/lib/stream/pose_queue.h"
#include "sinew/stream.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::client {

// Makes what the server lost again and returns the target to use from then on.
using RestoreTarget = std::function<absl::StatusOr<Target>(const std::stop_token&)>;

// Thread-safe. Any thread starts writes; one at a time handles events.
class StreamCore {
 public:
  // restore  empty: a lost session ends the stream
  StreamCore(std::shared_ptr<Connection> connection, v1::StreamOpen open,
             const StreamOptions& options, RestoreTarget restore);
  ~StreamCore();

  // Opens the stream and waits until the server has accepted it. Call once. kDeadlineExceeded: not
  // within the deadline; names the last failure. Any other error: that of the last attempt.
  absl::Status Start(const CallOptions& call);

  // These do what the members of Stream with their names do.
  absl::StatusOr<std::uint64_t> Send(const Pose& pose);
  std::size_t room() const;
  absl::StatusOr<std::optional<StreamItem>> Next(absl::Duration timeout);
  void Finish();
  void Cancel();  // from any thread; wakes Next
  StreamInfo info() const;

 private:
  struct Call;  // one RPC: context, queue and state
  enum Event : std::intptr_t;
  static void* Tag(Event event);
  using Lock = std::unique_lock<std::mutex>;

  // The stream's thread: one call after the other until one is final.
  void Run();
  absl::Status RunCall();
  bool TakesTurns(const Lock& lock) const;
  bool MayRest(const Lock& lock) const;
  void Rest(Lock& lock);
  void Idle(Lock& lock, Call& call);
  void WaitForTurn(Lock& lock);
  void LeaveCall(Lock& lock);
  bool Serve(Lock& lock, Call& call, std::chrono::system_clock::time_point deadline);
  void Handle(Call& call, Event event, bool ok);
  void OnWritten(Call& call, bool ok);
  bool OnRead(Call& call);
  static bool EndWith(Call& call, absl::Status failure);  // false
  absl::Status Settle(absl::Status status);
  absl::Status RestoreLost();  // replaces the target of `open_`

  // Writes what waits, unless a write is in flight: gRPC allows one at a time.
  void StartWrites(const Lock& lock);
  std::vector<grpc::Slice> NextMessage(const Lock& lock);
  bool NothingMoreToSend(const Lock& lock) const;

  // Handles a reply. Errors end the call: frames that were not requested, damaged frames
  // (kDataLoss), another determinism digest (kFailedPrecondition).
  absl::Status TakeReply(const grpc::ByteBuffer& buffer, FrameAssembler& assembler);
  absl::Status TakeOpened(const v1::StreamOpened& opened);
  // Frames and problems in the order of their poses.
  absl::Status TakeItems(std::vector<FrameChunk> chunks,
                         const google::protobuf::RepeatedPtrField<v1::FrameProblem>& problems,
                         FrameAssembler& assembler);
  absl::Status CheckRange(const v1::Frame& header) const;
  absl::Status TakeItem(std::uint64_t frame, absl::Status problem, std::shared_ptr<FrameData> data);
  // Begins to leave a call without compression if its line is slow.
  void MeasureLine(const Lock& lock, const QueuedPose& pose, const FrameData& data);

  const std::shared_ptr<Connection> connection_;
  const std::string traceparent_;  // of the thread that made the stream; its own has no span
  const bool verify_;
  const RestoreTarget restore_;
  v1::StreamOpen open_;  // used by the stream's thread only
  // The compressions of open_ in the order for slow lines; empty: another order does not help.
  const google::protobuf::RepeatedField<int> for_slow_lines_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  PoseQueue poses_;
  std::deque<StreamItem> ready_;
  std::uint32_t skipped_ = 0;  // poses replaced here since the last frame
  StreamInfo info_;
  Call* call_ = nullptr;                // while one is open
  bool opened_ = false;                 // at least once
  bool progressed_ = false;             // this call has returned a frame or a problem
  std::optional<absl::Time> accepted_;  // when the server accepted this call
  bool owing_ = false;                  // poses had no answer then
  bool finishing_ = false, cancelled_ = false, draining_ = false;
  std::uint64_t last_answered_ = 0;  // while draining: the server answers no pose after it
  bool slow_ = false;      // the line of this call, or of the one before it that it follows
  bool changing_ = false;  // draining because of that
  LineRate line_;          // of this call
  absl::Status failure_;   // of the last call
  std::optional<absl::Status> ended_;
  bool serving_ = false;  // a thread waits for an event of call_, or handles one
  bool in_next_ = false;
  bool resting_ = false;          // the stream's thread rests until Next returns, or idles
  std::condition_variable rest_;  // what it waits for then
  std::chrono::steady_clock::time_point last_use_;  // end of the last Send or Next

  std::stop_source stop_;
  std::thread thread_;
};

// What Client::OpenStream and Character::OpenStream share.
absl::StatusOr<Stream> OpenStream(std::shared_ptr<Connection> connection, const Target& target,
                                  const StreamOptions& options, RestoreTarget restore,
                                  const CallOptions& call);

}  // namespace sinew::client
