// compare.h - CompareDeformers: a block of poses through several targets of one rig, each frame
// measured.
//
// Targets one after the other, pose after pose; every step is a job of its own on the pose arena,
// so that frames of other calls come in between. One message waits at most beside the one being
// written: a slow reader slows the comparison down.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/metrics/meter.h"
#include "server/calls/frame_call.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class CompareCall : public FrameCall<grpc::ServerWriteReactor<grpc::ByteBuffer>>,
                    public LiveStream,
                    public std::enable_shared_from_this<CompareCall> {
 public:
  // Takes care of itself until the call is done.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(Runtime& runtime,
                                                           const RpcMethod& method,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request);

  CompareCall(Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context)
      : FrameCall(runtime, method, context) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void Tick(std::chrono::steady_clock::time_point now) override;
  void Drain() override;  // it may take hours: not answered to the end

 private:
  // What is kept of the target that is being measured; touched by one job at a time.
  struct Measured {
    std::unique_ptr<Evaluator> evaluator;
    std::optional<metrics::JerkMeter> jerk;
    metrics::MetricsSummary summary;
    double evaluate_seconds = 0;  // sum
    double worst_evaluate_seconds = 0;
  };

  // With mutex_ held.
  absl::Status Receive(const grpc::ByteBuffer& bytes);
  void FindNext();
  absl::Status Found(std::shared_ptr<Session> session);
  absl::Status Prepare();
  void WaitForBind();
  void Pump();
  void Stop(const absl::Status& status);

  // Without it, one at a time.
  void Step();
  absl::StatusOr<v1::CompareDeformersResponse> MeasureNext();
  absl::Status Begin(v1::CompareDeformersResponse& response);
  absl::Status MeasurePose(const v1::Pose& pose, bool output,
                           v1::CompareDeformersResponse& response);
  v1::MetricsSummary Summary() const;

  double FramesPerSecond() const;
  bool LastPose() const { return pose_ + 1 == request_.poses().poses_size(); }

  std::shared_ptr<CompareCall> self_;  // until OnDone
  v1::CompareDeformersRequest request_;
  FramePool::Reservation reservation_;              // until no job measures any more
  std::vector<std::shared_ptr<Session>> sessions_;  // one a target
  std::stop_source stop_;
  std::uint64_t bind_wait_ = 0;  // on the session of target_
  bool ready_ = false;           // that session is bound
  bool working_ = false;
  int target_ = 0, pose_ = 0;  // to be measured next

  std::optional<metrics::Meter> meter_;
  Measured measured_;
  std::vector<Vec3f> positions_;  // [V] of the frame being measured
};

}  // namespace sinew::server
