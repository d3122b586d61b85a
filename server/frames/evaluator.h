// evaluator.h - turns the poses of one call into frames: the session's deformer, the layout of the
// poses and scratch memory.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/rig/pose.h"
#include "server/base/config.h"
#include "server/base/metrics.h"
#include "server/convert/pose.h"
#include "server/frames/compression.h"
#include "server/frames/frame_pool.h"
#include "server/frames/outbox.h"
#include "server/store/session_table.h"
#include "server/threads/arena.h"
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
  enum class Frames {
    kInOrder,    // compressed ones build on the frames before them
    kPublished,  // each can be decoded by itself
    kOnePiece,   // as kPublished; frames are not cut, whatever output.chunk_bytes says
  };
  // The session may still be binding. `stop` ends the evaluation in progress, and all later ones,
  // with kCancelled.
  // kInvalidArgument: the layout or the output.
  static absl::StatusOr<std::unique_ptr<Evaluator>> Create(const EvaluatorContext& context,
                                                           std::shared_ptr<Session> session,
                                                           const v1::PoseLayout& layout,
                                                           const v1::OutputOptions& output,
                                                           std::stop_token stop,
                                                           Frames frames = Frames::kInOrder);

  // Call once before the first pose, after the bind is over. kFailedPrecondition: it failed.
  absl::Status Ready();

  const Session& session() const { return *session_; }
  const Output& output() const { return output_; }
  std::uint32_t vertices() const { return vertices_; }
  // Memory of so many frames in flight, and of the evaluation for what they are made from: float32
  // positions and normals of encoded ones, and the differentials of normals.
  std::size_t frame_bytes(std::size_t frames) const {
    const bool directions = output_.normals || output_.tangents;
    const std::size_t each =
        (output_.encoding != Encoding::kFloat32 ? 12 : 0) +
        (output_.normals && output_.normal_encoding != Encoding::kFloat32 ? 12 : 0) +
        (directions ? 24 : 0);
    const std::size_t buffers = output_.zstd
                                    ? Compressor::Bytes(output_, vertices_, frames)
                                    : frames * OutgoingFrame::BufferBytes(output_, vertices_);
    return buffers + frames * muscle_bytes() + each * vertices_;
  }
  // Size of one pose as the layout defines it.
  std::size_t pose_bytes() const { return format_.joint_bytes() + format_.control_bytes(); }
  // Size of the posed muscles in a frame; 0 unless requested.
  std::size_t muscle_bytes() const;

  // True: the next frame probably costs less than passing it to another thread.
  bool Cheap() const;

  // Where the next frame is evaluated if it is not cheap: a batch if frames of the session take
  // long. Once Ready.
  Arenas::Frames lane() const;

  // Checks unknown fields and byte counts. kInvalidArgument.
  absl::Status Check(const v1::Pose& pose) const;

  // The frame of a pose, sealed. parallel: use the threads of the calling arena. kInvalidArgument:
  // the pose is wrong; with an unknown field also the reason UNKNOWN_FIELD.
  absl::StatusOr<OutgoingFrame> EvaluateFrame(const v1::Pose& pose, bool parallel);
  // Evaluates the frame into `out`, whose spans are set. Errors as EvaluateFrame.
  absl::Status EvaluateInto(const v1::Pose& pose, bool parallel, FrameOut& out);

  // Joint transforms of the last pose, [J] joint to model.
  std::span<const Affine> joints() const { return joints_; }

 private:
  Evaluator(const EvaluatorContext& context, std::shared_ptr<Session> session, PoseFormat format,
            Output output, std::stop_token stop, bool deltas);
  absl::Status Read(const v1::Pose& pose);
  // Deforms by the pose that was read.
  absl::Status RunDeformer(bool parallel, FrameOut& out);

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
  std::optional<Compressor> compressor_;
  const std::stop_token stop_;
};

}  // namespace sinew::server
