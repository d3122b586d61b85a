// evaluator.h - poses of one call to frames: the session's deformer, the layout of the poses,
// scratch and state.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/rig/pose.h"
#include "server/base/config.h"
#include "server/base/metrics.h"
#include "server/convert/pose.h"
#include "server/frames/frame_pool.h"
#include "server/frames/outbox.h"
#include "server/store/session_table.h"
#include "sinew/v1/pose.pb.h"

namespace sinew::server {

// What the evaluators of a server share; must outlive them.
struct EvaluatorContext {
  const StreamConfig& limits;
  double inline_microseconds;
  Metrics& metrics;
  FramePool& pool;
};

// One evaluation at a time.
class Evaluator {
 public:
  // The session may still be binding. kInvalidArgument: the layout, or output.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Create(const EvaluatorContext& context,
                                                           std::shared_ptr<Session> session,
                                                           const v1::PoseLayout& layout,
                                                           const v1::OutputOptions& output);

  // Call once before the first pose, after the bind is over. kFailedPrecondition: it failed.
  absl::Status Ready();

  const Session& session() const { return *session_; }
  const Output& output() const { return output_; }
  std::uint32_t vertices() const { return vertices_; }
  // Of one frame in flight.
  std::size_t frame_bytes() const {
    return OutgoingFrame::BufferBytes(output_, vertices_) + muscle_bytes();
  }
  // Of the posed muscles in a frame, if wanted.
  std::size_t muscle_bytes() const;

  // True: frames depend on the poses before them; their state is this evaluator's. Once Ready.
  bool stateful() const { return deformer_ != nullptr && !deformer_->frames_independent(); }
  // Forgets the poses before.
  void Reset() { state_ = {}; }
  // What runs ends soon with kCancelled, and so does every later evaluation. Any thread.
  void Stop() { stop_.request_stop(); }

  // True: the next frame probably costs less than handing it to another thread. One with state may
  // cost many times the one before it.
  bool Cheap() const;

  // What can be said of a pose before its turn: unknown fields and byte counts. kInvalidArgument.
  absl::Status Check(const v1::Pose& pose) const;

  // The frame of a pose, sealed; none if the pose asks for no output. parallel: use the calling
  // arena's threads. kInvalidArgument: the pose is wrong; with an unknown field also the reason
  // UNKNOWN_FIELD.
  absl::StatusOr<std::optional<OutgoingFrame>> Evaluate(const v1::Pose& pose, bool parallel,
                                                        bool output);

  // Without state, into `out`, whose spans are set. Errors as Evaluate.
  absl::Status EvaluateOnce(const v1::Pose& pose, bool parallel, FrameOut& out);
  // The same as the next frame of a stream.
  absl::Status EvaluateNext(const v1::Pose& pose, bool parallel, FrameOut& out);
  // The steps from rest that lie behind the frame evaluated last and were not asked for yet; see
  // Frame.replayed_steps.
  std::uint32_t TakeReplayed() { return std::exchange(replayed_steps_, 0); }

  // Of the pose evaluated last, [J] joint to model.
  std::span<const Affine> joints() const { return joints_; }

 private:
  Evaluator(const EvaluatorContext& context, std::shared_ptr<Session> session, PoseFormat format,
            Output output);
  absl::Status Read(const v1::Pose& pose);
  absl::Status Run(StreamState* state, bool parallel, FrameOut& out);

  const EvaluatorContext& context_;
  const std::shared_ptr<Session> session_;
  const PoseFormat format_;
  const Output output_;
  const std::uint32_t vertices_;
  std::shared_ptr<const Deformer> deformer_;
  std::vector<Affine> joints_;
  std::vector<float> controls_;
  std::vector<PosedMuscle> muscles_;
  Workspace workspace_;
  StreamState state_;
  std::uint32_t replayed_steps_ = 0;
  std::stop_source stop_;
};

}  // namespace sinew::server
