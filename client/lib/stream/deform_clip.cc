#include "client/lib/stream/deform_clip.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_macros.h"
#include "client/lib/rpc/raw_call.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/rpc/status_codec.h"
#include "client/lib/stream/clip_poses.h"
#include "client/lib/stream/frame_items.h"
#include "client/lib/stream/frame_parser.h"
#include "client/lib/stream/stream_core.h"

namespace sinew::client {
namespace {

constexpr char kPosesLimit[] = "max-clip-poses";
constexpr std::size_t kMaxBlockFrames = 10'000;  // a server's default of that limit
// One in so many poses that are sent again brings a frame all the same: it makes room for more.
constexpr std::size_t kSignOfLife = 16;

// A clip on its way: which frames have been handed over.
class ClipCall {
 public:
  ClipCall(std::shared_ptr<Connection> connection, const PoseLayout& layout, const ClipPoses& poses,
           const OutputOptions& output, const ClipSink& sink)
      : connection_(std::move(connection)),
        layout_(layout),
        poses_(poses),
        output_(output),
        sink_(sink) {
    *header_.mutable_layout() = FromLayout(layout);
    *header_.mutable_output() = FromOutput(output);
  }

  absl::Status SetTarget(Target target) {
    SINEW_ASSIGN_OR_RETURN(*header_.mutable_target(), FromTarget(target));
    target_ = std::move(target);
    return absl::OkStatus();
  }

  bool done() const { return next_ >= poses_.frames; }
  std::size_t next() const { return next_; }
  // Set once the sink has refused a frame.
  const absl::Status& refused() const { return refused_; }

  // What is left has to go through a stream.
  bool needs_stream() const { return stateful_ && next_ > 0; }

  // Sends the poses from next() on that fit one request and hands over what comes back.
  absl::Status RunBlock(grpc::ClientContext& context) {
    const std::size_t end = std::min(poses_.frames, next_ + BlockFrames());
    sent_ = end - next_;
    RawCall call(*connection_, kDeformClipMethod, context, Request(end));
    FrameAssembler assembler(output_.checksums);
    grpc::ByteBuffer buffer;
    while (call.Read(buffer)) SINEW_RETURN_IF_ERROR(TakeReply(buffer, end, assembler));
    SINEW_RETURN_IF_ERROR(FromGrpc(call.Finish()));
    return Complete(end);
  }

  // Sends all poses and hands over the frames from next() on. kUnavailable: the connection broke,
  // and the state with it.
  absl::Status RunStream(const CallOptions& options) {
    SINEW_ASSIGN_OR_RETURN(Stream stream,
                           OpenStream(connection_, target_, {.layout = layout_, .output = output_},
                                      /*heal=*/{}, options));
    const std::stop_callback cancel(options.stop, [&] { stream.Cancel(); });
    SINEW_RETURN_IF_ERROR(CheckDeterminismDigest(stream.info().determinism_digest));
    for (std::size_t sent = 0; !done();) {
      for (; sent < poses_.frames && stream.room() > 0; ++sent) {
        Pose pose = ClipPose(poses_, sent);
        pose.no_output = sent < next_ && sent % kSignOfLife != 0;
        SINEW_RETURN_IF_ERROR(stream.Send(pose).status());
      }
      if (sent == poses_.frames) stream.Finish();
      SINEW_ASSIGN_OR_RETURN(const std::optional<StreamItem> item, stream.Next());
      if (stream.info().resumed > 0) {
        return absl::UnavailableError("the connection broke, and the deformer's state with it");
      }
      if (!item) break;
      if (item->frame >= Number(next_)) SINEW_RETURN_IF_ERROR(HandOver(*item, poses_.frames));
    }
    return Complete(poses_.frames);
  }

  // True if `status` says that the server takes fewer poses at a time than were sent: the next
  // block is half as long.
  bool Shrink(const absl::Status& status) {
    if (sent_ < 2 || !PassedLimit(status, kPosesLimit)) return false;
    most_frames_ = sent_ / 2;
    return true;
  }

 private:
  std::uint64_t Number(std::size_t index) const { return poses_.first_frame + index; }

  absl::Status Complete(std::size_t end) const {
    if (next_ >= end) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("DeformClip: got frames up to ", Number(next_) - 1,
                                            ", need ", Number(end) - 1));
  }

  std::size_t BlockFrames() const {
    return ClipBlockFrames(poses_, connection_->options().clip_block_bytes, most_frames_);
  }

  v1::DeformClipRequest Request(std::size_t end) const {
    v1::DeformClipRequest request = header_;
    for (std::size_t i = next_; i < end; ++i) {
      *request.mutable_poses()->add_poses() = FromPose(ClipPose(poses_, i));
    }
    return request;
  }

  absl::Status TakeReply(const grpc::ByteBuffer& buffer, std::size_t end,
                         FrameAssembler& assembler) {
    SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes,
                           MessageBytes::From(buffer, connection_->in_process()));
    SINEW_ASSIGN_OR_RETURN(auto reply, ParseClipReply(std::move(bytes)));
    SINEW_RETURN_IF_ERROR(CheckDeterminismDigest(reply.rest.determinism_digest()));
    stateful_ = stateful_ || reply.rest.stateful();
    return ForEachItem(
        std::move(reply.chunks), reply.rest.problems(), assembler,
        [&](std::uint64_t frame, absl::Status problem, std::shared_ptr<FrameData> data) {
          FrameView view = data == nullptr ? FrameView() : FrameView(std::move(data));
          return HandOver({.frame = frame, .problem = std::move(problem), .view = std::move(view)},
                          end);
        });
  }

  absl::Status HandOver(const StreamItem& item, std::size_t end) {
    if (next_ >= end || item.frame != Number(next_)) {
      return absl::InternalError(
          absl::StrCat("DeformClip: got frame ", item.frame, ", need ", Number(next_)));
    }
    refused_ = sink_(item);
    if (refused_.ok()) ++next_;
    return refused_;
  }

  absl::Status CheckDeterminismDigest(const std::string& determinism_digest) {
    if (determinism_digest.empty()) return absl::OkStatus();
    if (determinism_digest_.empty()) determinism_digest_ = determinism_digest;
    if (determinism_digest_ == determinism_digest) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("determinism digest: got ", determinism_digest,
                     " within a clip that began with ", determinism_digest_));
  }

  const std::shared_ptr<Connection> connection_;
  Target target_;
  v1::DeformClipRequest header_;
  const PoseLayout& layout_;
  const ClipPoses& poses_;
  const OutputOptions& output_;
  const ClipSink& sink_;
  std::size_t next_ = 0;
  std::size_t sent_ = 0;  // poses of the last block
  bool stateful_ = false;
  std::size_t most_frames_ = kMaxBlockFrames;
  std::string determinism_digest_;
  absl::Status refused_;
};

}  // namespace

absl::Status DeformClip(const std::shared_ptr<Connection>& connection, const Target& target,
                        const PoseLayout& layout, const ClipPoses& poses,
                        const OutputOptions& output, const ClipSink& sink, const HealTarget& heal,
                        const CallOptions& call) {
  if (!sink) return absl::InvalidArgumentError("sink: got none, need a function");
  SINEW_RETURN_IF_ERROR(CheckClipPoses(poses));
  ClipCall clip(connection, layout, poses, output, sink);
  SINEW_RETURN_IF_ERROR(clip.SetTarget(target));
  Retrier retrier(*connection, heal ? Repeat::kPersist : Repeat::kAttempts, absl::InfiniteFuture(),
                  call.stop);
  int heals = 0;
  while (!clip.done()) {
    const std::size_t before = clip.next();
    absl::Status status = clip.needs_stream()
                              ? clip.RunStream(call)
                              : connection->RunOnce(connection->Deadline(call), call.stop,
                                                    [&](grpc::ClientContext& context) {
                                                      return clip.RunBlock(context);
                                                    });
    if (clip.next() > before) {
      retrier.Progress();
      heals = 0;
    }
    if (status.ok()) continue;
    if (!clip.refused().ok()) return clip.refused();
    if (clip.Shrink(status)) continue;
    if (heal && IsLost(status) && heals < kMaxHeals) {
      const absl::StatusOr<Target> again = heal(call.stop);
      status = again.status();
      if (status.ok()) {
        SINEW_RETURN_IF_ERROR(clip.SetTarget(*again));
        ++heals;
        continue;
      }
    }
    if (!retrier.Again(status)) {
      return call.stop.stop_requested() ? absl::CancelledError("cancelled by the caller") : status;
    }
  }
  return absl::OkStatus();
}

absl::Status Client::DeformClip(const Target& target, const PoseLayout& layout,
                                const ClipPoses& poses, const OutputOptions& output,
                                const ClipSink& sink, const CallOptions& call) const {
  return client::DeformClip(connection_, target, layout, poses, output, sink, /*heal=*/{}, call);
}

}  // namespace sinew::client
