#include "client/cpp/deform_clip.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/cpp/clip_poses.h"
#include "client/cpp/frame_items.h"
#include "client/cpp/frame_parser.h"
#include "client/cpp/message_codec.h"
#include "client/cpp/raw_call.h"
#include "client/cpp/retry.h"
#include "client/cpp/status_codec.h"
#include "client/cpp/status_macros.h"

namespace sinew::client {
namespace {

constexpr char kPosesLimit[] = "max-clip-poses";
constexpr std::size_t kMostBlockFrames = 10'000;  // a server's default of that limit
// Of a block, poses before it that are sent again for a recipe with state.
constexpr double kMostPreroll = 0.5;

// A clip on its way: which frames have been handed over.
class ClipCall {
 public:
  ClipCall(Connection& connection, v1::DeformClipRequest header, const ClipPoses& poses,
           const OutputSpec& output, const ClipSink& sink)
      : connection_(connection),
        header_(std::move(header)),
        poses_(poses),
        verify_(output.checksums),
        sink_(sink) {}

  void SetTarget(v1::Target target) { *header_.mutable_target() = std::move(target); }

  bool done() const { return next_ >= poses_.frames; }
  std::size_t next() const { return next_; }
  // Set once the sink has refused a frame.
  const absl::Status& refused() const { return refused_; }

  // Sends the poses from next() on that fit one request and hands over what comes back.
  absl::Status RunBlock(grpc::ClientContext& context) {
    const std::size_t frames = BlockFrames(), preroll = Preroll(frames);
    const std::size_t end = std::min(poses_.frames, next_ + frames - preroll);
    sent_ = preroll + end - next_;
    RawCall call(connection_, kDeformClipMethod, context, Request(next_ - preroll, end));
    FrameAssembler assembler(verify_);
    grpc::ByteBuffer buffer;
    while (call.Read(buffer)) SINEW_RETURN_IF_ERROR(TakeReply(buffer, end, assembler));
    SINEW_RETURN_IF_ERROR(FromGrpc(call.Finish()));
    if (next_ < end) {
      return absl::InternalError(absl::StrCat("DeformClip: got frames up to ", Number(next_) - 1,
                                              ", need ", Number(end) - 1));
    }
    return absl::OkStatus();
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

  std::size_t BlockFrames() const {
    return ClipBlockFrames(poses_, connection_.options().clip_block_bytes, most_frames_);
  }

  // State ends with a call: what goes before the block lets it build up again.
  std::size_t Preroll(std::size_t frames) const {
    if (!stateful_) return 0;
    return std::min(next_, static_cast<std::size_t>(kMostPreroll * static_cast<double>(frames)));
  }

  v1::DeformClipRequest Request(std::size_t begin, std::size_t end) const {
    v1::DeformClipRequest request = header_;
    for (std::size_t i = begin; i < end; ++i) {
      *request.mutable_poses()->add_poses() = FromPose(ClipPose(poses_, i));
    }
    request.mutable_poses()->set_preroll(static_cast<std::uint32_t>(next_ - begin));
    return request;
  }

  absl::Status TakeReply(const grpc::ByteBuffer& buffer, std::size_t end,
                         FrameAssembler& assembler) {
    SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes,
                           MessageBytes::From(buffer, connection_.in_process()));
    SINEW_ASSIGN_OR_RETURN(auto reply, ParseClipReply(std::move(bytes)));
    SINEW_RETURN_IF_ERROR(CheckNumerics(reply.rest.numerics()));
    stateful_ = stateful_ || reply.rest.stateful();
    const std::uint64_t first = Number(next_);
    return ForEachItem(
        std::move(reply.chunks), reply.rest.problems(), assembler,
        [&](std::uint64_t frame, absl::Status problem, std::shared_ptr<FrameData> data) {
          if (frame < first) return absl::OkStatus();  // what went before: it had its turn
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

  absl::Status CheckNumerics(const std::string& numerics) {
    if (numerics.empty()) return absl::OkStatus();
    if (numerics_.empty()) numerics_ = numerics;
    if (numerics_ == numerics) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("numerics: got ", numerics, " within a clip that began with ", numerics_));
  }

  Connection& connection_;
  v1::DeformClipRequest header_;
  const ClipPoses& poses_;
  const bool verify_;
  const ClipSink& sink_;
  std::size_t next_ = 0;
  std::size_t sent_ = 0;  // poses of the last block
  bool stateful_ = false;
  std::size_t most_frames_ = kMostBlockFrames;
  std::string numerics_;
  absl::Status refused_;
};

}  // namespace

absl::Status DeformClip(Connection& connection, const Target& target, const PoseLayout& layout,
                        const ClipPoses& poses, const OutputSpec& output, const ClipSink& sink,
                        const HealTarget& heal, const CallOptions& call) {
  if (!sink) return absl::InvalidArgumentError("sink: got none, need a function");
  SINEW_RETURN_IF_ERROR(CheckClipPoses(poses));
  v1::DeformClipRequest header;
  SINEW_ASSIGN_OR_RETURN(*header.mutable_target(), FromTarget(target));
  *header.mutable_layout() = FromLayout(layout);
  *header.mutable_output() = FromOutput(output);
  ClipCall clip(connection, std::move(header), poses, output, sink);
  Retrier retrier(connection, heal ? Repeat::kPersist : Repeat::kAttempts, absl::InfiniteFuture(),
                  call.stop);
  int heals = 0;
  while (!clip.done()) {
    const std::size_t before = clip.next();
    absl::Status status =
        connection.RunOnce(connection.Deadline(call), call.stop,
                           [&](grpc::ClientContext& context) { return clip.RunBlock(context); });
    if (clip.next() > before) {
      retrier.Progress();
      heals = 0;
    }
    if (status.ok()) continue;
    if (!clip.refused().ok()) return clip.refused();
    if (clip.Shrink(status)) continue;
    if (heal && IsLost(status) && heals < kMostHeals) {
      const absl::StatusOr<Target> again = heal(call.stop);
      status = again.status();
      if (status.ok()) {
        SINEW_ASSIGN_OR_RETURN(v1::Target message, FromTarget(*again));
        clip.SetTarget(std::move(message));
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
                                const ClipPoses& poses, const OutputSpec& output,
                                const ClipSink& sink, const CallOptions& call) const {
  return client::DeformClip(*connection_, target, layout, poses, output, sink, /*heal=*/{}, call);
}

}  // namespace sinew::client
