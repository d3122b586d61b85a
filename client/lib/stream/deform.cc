#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/frame_parser.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// For everything besides the frame in a unary reply.
constexpr std::size_t kHeaderRoom = 32 << 10;
// Largest reply to a request without max_response_bytes.
constexpr std::size_t kDefaultResponseBytes = 4 << 20;

// A blocking call whose reply is a byte buffer, which gRPC 1.51 does not offer. A completion queue
// per call has lower latency than the callback API, whose first reply after a second of silence
// came up to 86 ms later.
grpc::Status CallDeform(Connection& connection, grpc::ClientContext& context,
                        const v1::DeformRequest& request, grpc::ByteBuffer& reply) {
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request.SerializeAsString());
  const auto call = connection.raw().PrepareUnaryCall(&context, "/sinew.v1.DeformService/Deform",
                                                      grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status;
}

absl::StatusOr<FrameView> ReadReply(const grpc::ByteBuffer& buffer, bool verify,
                                    std::size_t max_bytes) {
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes, MessageBytes::From(buffer));
  SINEW_ASSIGN_OR_RETURN(auto reply, ParseReply<v1::DeformResponse>(std::move(bytes)));
  if (reply.chunks.size() != 1) {
    return absl::InternalError(
        absl::StrCat("DeformResponse.frame: got ", reply.chunks.size(), ", need one"));
  }
  FrameAssembler assembler(verify, max_bytes);
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<FrameData> frame,
                         assembler.Add(std::move(reply.chunks.front())));
  if (frame == nullptr) return absl::InternalError("DeformResponse.frame: got an incomplete frame");
  return FrameView(std::move(frame));
}

absl::StatusOr<FrameView> DeformOnce(Connection& connection, const v1::DeformRequest& request,
                                     bool verify, const CallOptions& call) {
  FrameView view;
  const absl::Status status = connection.Run(
      call, connection.routes().Of(request.target()),
      [&](grpc::ClientContext& context) -> absl::Status {
        grpc::ByteBuffer reply;
        SINEW_RETURN_IF_ERROR(FromGrpc(CallDeform(connection, context, request, reply)));
        if (!reply.Valid()) return absl::InternalError("Deform: got no reply");
        SINEW_ASSIGN_OR_RETURN(view,
                               ReadReply(reply, verify, connection.options().max_receive_bytes));
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return view;
}

}  // namespace

absl::StatusOr<FrameView> Client::Deform(const Target& target, const PoseLayout& layout,
                                         const Pose& pose, const OutputOptions& output,
                                         const CallOptions& call) const {
  v1::DeformRequest request;
  SINEW_ASSIGN_OR_RETURN(*request.mutable_target(), FromTarget(target));
  *request.mutable_layout() = FromLayout(layout);
  *request.mutable_pose() = FromPose(pose);
  if (pose.frame == 0) request.mutable_pose()->set_frame(1);
  *request.mutable_output() = FromOutput(output);
  const std::size_t max_bytes = connection_->options().max_receive_bytes - kHeaderRoom;
  if (max_bytes < kDefaultResponseBytes) request.set_max_response_bytes(max_bytes);
  const absl::Time end = connection_->Deadline(call);
  absl::StatusOr<FrameView> view = DeformOnce(*connection_, request, output.checksums, call);
  // A server may refuse a max_response_bytes above its own limit, so it is raised only if needed.
  if (max_bytes <= kDefaultResponseBytes || Details(view.status()).reason != "USE_STREAM")
    return view;
  request.set_max_response_bytes(max_bytes);
  absl::StatusOr<FrameView> large =
      DeformOnce(*connection_, request, output.checksums, CallUntil(end, call.stop));
  return ExceededLimit(large.status(), "max-response-bytes") ? view : large;
}

}  // namespace sinew::client
