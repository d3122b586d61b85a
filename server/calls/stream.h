// stream.h - StreamDeform: poses in, frames out, at the same time.
//
// Life: the first message opens (target, layout, output, mode, window); poses that come while the
// session still binds wait; then one pose after the other is evaluated, where it arrives if that is
// cheap, else in the pose arena, and the frames are written one message at a time. Poses are always
// read, so that `received` behind them is seen.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "server/calls/frame_call.h"
#include "server/frames/evaluator.h"
#include "server/frames/flow_window.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class StreamCall : public FrameCall<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>>,
                   public LiveStream,
                   public std::enable_shared_from_this<StreamCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(
      Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context);

  StreamCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : FrameCall(runtime, method, context) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override;

 private:
  struct Waiting {
    v1::Pose pose;
    Clock::time_point arrived;
    absl::Status refused;  // else evaluated in its turn
  };

  // All but Evaluate are called with mutex_ held.
  absl::Status Receive(v1::StreamDeformRequest& request);
  absl::Status Open(const v1::StreamOpen& open);
  absl::Status Take(v1::Pose& pose);
  void Vet(Waiting& waiting) const;
  void Found(absl::StatusOr<std::shared_ptr<Session>> session);
  absl::Status Prepare(std::shared_ptr<Session> session);
  void Ready();
  void Pump(std::unique_lock<std::mutex>& lock);
  void StartInArena();
  void Evaluate(const Waiting& waiting, bool parallel);
  void Answered(const Waiting& waiting, absl::StatusOr<std::optional<OutgoingFrame>> result,
                Clock::time_point started);
  void EndIfDone();
  void EndWith(const absl::Status& status);

  std::shared_ptr<StreamCall> self_;  // until OnDone
  grpc::ByteBuffer read_;
  v1::StreamOpen open_;
  bool opened_ = false;  // the first message was read
  bool ready_ = false;   // bound; poses may be evaluated
  bool reads_done_ = false, evaluating_ = false, draining_ = false;
  bool left_out_ = false;  // a pose came too late, while draining
  FramePool::Reservation reservation_;
  std::optional<FlowWindow> window_;
  std::deque<Waiting> waiting_;
  std::uint64_t unvetted_bytes_ = 0;  // of waiting poses, until their format is known
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<Session> session_;
  std::uint64_t bind_wait_ = 0;  // id of what waits for the bind
  std::uint32_t skipped_ = 0;    // poses replaced since the last frame
  std::optional<Clock::time_point> full_since_;
  const Clock::time_point created_ = Clock::now();
};

}  // namespace sinew::server
