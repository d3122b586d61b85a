#include <utility>

#include "client/cpp/connection.h"
#include "client/cpp/frame_assembler.h"
#include "client/cpp/frame_parser.h"
#include "client/cpp/message_codec.h"
#include "client/cpp/raw_call.h"
#include "client/cpp/status_codec.h"
#include "client/cpp/status_macros.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// Room for a frame's header beside its bulk in a unary reply.
constexpr std::size_t kHeaderRoom = 64 << 10;

absl::StatusOr<FrameView> ReadReply(const grpc::ByteBuffer& buffer, bool copy, bool verify) {
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes,
                         MessageBytes::From(buffer, copy));
  SINEW_ASSIGN_OR_RETURN(auto reply, ParseDeformReply(std::move(bytes)));
  if (reply.chunks.empty()) return absl::InternalError("DeformResponse.frame: got none");
  FrameAssembler assembler(verify);
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<FrameData> frame,
                         assembler.Add(std::move(reply.chunks.front())));
  if (frame == nullptr) return absl::InternalError("DeformResponse.frame: got a part of a frame");
  return FrameView(std::move(frame));
}

}  // namespace

absl::StatusOr<FrameView> Client::Deform(const Target& target, const PoseLayout& layout,
                                         const Pose& pose, const OutputSpec& output,
                                         const CallOptions& call) const {
  v1::DeformRequest request;
  SINEW_ASSIGN_OR_RETURN(*request.mutable_target(), FromTarget(target));
  *request.mutable_layout() = FromLayout(layout);
  *request.mutable_pose() = FromPose(pose);
  if (pose.frame == 0) request.mutable_pose()->set_frame(1);
  *request.mutable_output() = FromOutput(output);
  request.set_max_response_bytes(connection_->options().max_receive_bytes - kHeaderRoom / 2);
  FrameView view;
  const absl::Status status =
      connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) -> absl::Status {
        RawCall raw(*connection_, kDeformMethod, context, request);
        grpc::ByteBuffer reply, extra;
        const bool replied = raw.Read(reply);
        if (replied) raw.Read(extra);
        SINEW_RETURN_IF_ERROR(FromGrpc(raw.Finish()));
        if (!replied) return absl::InternalError("Deform: got no reply");
        SINEW_ASSIGN_OR_RETURN(view, ReadReply(reply, connection_->in_process(), output.checksums));
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return view;
}

}  // namespace sinew::client
