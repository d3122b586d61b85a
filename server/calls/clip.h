// clip.h - DeformClip: a block of poses in one message, all frames back in order.
//
// There is no way back for acknowledgements: gRPC's own window and two frames here bound what a
// slow reader can pile up.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>

#include "server/calls/frame_call.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class ClipCall : public FrameCall<grpc::ServerWriteReactor<grpc::ByteBuffer>>,
                 public LiveStream,
                 public std::enable_shared_from_this<ClipCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(Runtime& runtime,
                                                           const RpcMethod& method,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request);

  ClipCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : FrameCall(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override {}  // answered to the end

 private:
  // All but Evaluate are called with mutex_ held.
  absl::Status Receive(const grpc::ByteBuffer& bytes);
  absl::Status Prepare(std::shared_ptr<Session> session);
  void Ready();
  void Pump();
  void Evaluate(const v1::Pose& pose, bool output);

  std::shared_ptr<ClipCall> self_;  // until OnDone
  v1::DeformClipRequest request_;
  FramePool::Reservation reservation_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<Session> session_;
  std::uint64_t bind_wait_ = 0;
  bool ready_ = false, evaluating_ = false;
  int next_ = 0;  // pose
};

}  // namespace sinew::server
