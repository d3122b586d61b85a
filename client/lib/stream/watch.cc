#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "client/lib/codec/recipe_json.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/frame_parser.h"
#include "core/base/status.h"
#include "sinew/client.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::client {
namespace {

// Messages that one Next passes over: a caller must get a frame even where they come faster than it
// can take them.
constexpr int kMostBehind = 256;

}  // namespace

// One WatchStream call, with one operation of gRPC at a time.
class WatchCore {
 public:
  explicit WatchCore(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)),
        context_(connection_->NewContext(absl::InfiniteFuture(), connection_->Traceparent(), "")),
        assembler_(/*verify=*/true, connection_->options().max_receive_bytes) {}
  ~WatchCore() {
    context_->TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  absl::Status Start(const std::string& name, const CallOptions& call) {
    const std::stop_callback cancel(call.stop, [this] { Cancel(); });
    v1::WatchStreamRequest request;
    request.set_name(name);
    const grpc::Slice slice(request.SerializeAsString());
    stream_ = connection_->raw().PrepareCall(context_.get(), "/sinew.v1.DeformService/WatchStream",
                                             &queue_);
    stream_->StartCall(nullptr);
    const auto open = [&](absl::Time deadline) -> absl::Status {
      SINEW_ASSIGN_OR_RETURN(bool ok, Wait(deadline));
      if (ok) {
        stream_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
        SINEW_ASSIGN_OR_RETURN(ok, Wait(deadline));
      }
      return Receive(deadline);
    };
    const absl::Status status = open(connection_->Deadline(call));
    if (!absl::IsDeadlineExceeded(status)) return status;
    return absl::DeadlineExceededError("watch: not accepted by the server within the deadline");
  }

  absl::StatusOr<FrameView> Next(absl::Duration timeout) {
    // Not "now", which gRPC takes for the next full millisecond.
    const absl::Time deadline =
        timeout > absl::ZeroDuration() ? absl::Now() + timeout : absl::InfinitePast();
    while (newest_ == nullptr) SINEW_RETURN_IF_ERROR(Receive(deadline));
    // What the transport held while the caller was busy is out of date. An error is for the next
    // call.
    for (int k = 0; k < kMostBehind && Receive(absl::InfinitePast()).ok(); ++k) continue;
    if (stop_.stop_requested()) return absl::CancelledError("cancelled by the caller");
    return FrameView(std::exchange(newest_, nullptr));
  }

  void Cancel() {
    stop_.request_stop();
    context_->TryCancel();
  }
  const WatchInfo& info() const { return info_; }

 private:
  // Whether the operation that was started has succeeded. kDeadlineExceeded: it goes on.
  absl::StatusOr<bool> Wait(absl::Time deadline) {
    void* tag;
    bool ok = false;
    const auto event =
        queue_.AsyncNext(&tag, &ok, absl::ToChronoTime(std::max(deadline, absl::UnixEpoch())));
    if (event == grpc::CompletionQueue::GOT_EVENT) return ok;
    return absl::DeadlineExceededError("watch: no frame within the timeout");
  }

  // The next message, or why there is none.
  absl::Status Receive(absl::Time deadline) {
    if (ended_) return *ended_;
    if (!std::exchange(reading_, true)) stream_->Read(&buffer_, nullptr);
    SINEW_ASSIGN_OR_RETURN(const bool ok, Wait(deadline));
    reading_ = false;
    absl::Status status = ok ? Take() : EndOfCall();
    if (!status.ok()) {
      context_->TryCancel();
      ended_ = status;
    }
    return status;
  }

  absl::Status EndOfCall() {
    grpc::Status status;
    stream_->Finish(&status, nullptr);
    SINEW_RETURN_IF_ERROR(Wait(absl::InfiniteFuture()).status());
    if (stop_.stop_requested()) return absl::CancelledError("cancelled by the caller");
    return status.ok() ? absl::InternalError("watch: ended without an error")
                       : Explained(FromGrpc(status));
  }

  absl::Status Take() {
    SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes, MessageBytes::From(buffer_));
    buffer_.Clear();
    SINEW_ASSIGN_OR_RETURN(auto reply, ParseReply<v1::WatchStreamResponse>(std::move(bytes)));
    if (reply.rest.has_opened()) {
      const v1::WatchOpened& opened = reply.rest.opened();
      info_ = {.session = opened.session(),
               .determinism_digest = opened.determinism_digest(),
               .rig = opened.source().rig(),
               .recipe = opened.source().has_recipe() ? RecipeJson(opened.source().recipe())
                                                      : opened.source().recipe_text(),
               .vertices = opened.vertices()};
    }
    for (FrameChunk& chunk : reply.chunks) {
      // Before memory is spent on it: compressed vertices need few bytes.
      const v1::Frame& header = chunk.header;
      if (header.vertex_offset() > info_.vertices ||
          header.vertex_count() > info_.vertices - header.vertex_offset()) {
        return absl::InternalError(absl::StrCat("frame ", header.frame(), ": more than the ",
                                                info_.vertices, " vertices of the stream"));
      }
      SINEW_ASSIGN_OR_RETURN(std::shared_ptr<FrameData> frame, assembler_.Add(std::move(chunk)));
      if (frame == nullptr) continue;
      if (newest_ != nullptr) frame->skipped += 1 + newest_->skipped;
      newest_ = std::move(frame);
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<grpc::ClientContext> context_;
  std::stop_source stop_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer buffer_;
  bool reading_ = false;
  FrameAssembler assembler_;
  std::shared_ptr<FrameData> newest_;  // that Next has not returned
  WatchInfo info_;
  std::optional<absl::Status> ended_;
};

Watch::Watch(std::unique_ptr<WatchCore> core) : core_(std::move(core)) {}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

absl::StatusOr<FrameView> Watch::Next(absl::Duration timeout) {
  return core_->Next(timeout);
}
void Watch::Cancel() {
  core_->Cancel();
}
const WatchInfo& Watch::info() const {
  return core_->info();
}

absl::StatusOr<Watch> Client::WatchStream(const std::string& name, const CallOptions& call) const {
  auto core = std::make_unique<WatchCore>(connection_);
  SINEW_RETURN_IF_ERROR(core->Start(name, call));
  return Watch(std::move(core));
}

}  // namespace sinew::client
