#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// An upload in calls that each send the header and the bytes behind those the server holds.
class Upload {
 public:
  Upload(Connection& connection, std::string_view bytes, const UploadProgress& progress)
      : connection_(connection), name_(RigName(bytes)), bytes_(bytes), progress_(progress) {
    header_.set_sha256(name_.substr(name_.rfind('-') + 1));
    header_.set_size_bytes(bytes.size());
  }

  absl::StatusOr<UploadedRig> Run(const CallOptions& call) {
    const absl::Time deadline = connection_.Deadline(call);
    Recovery recovery(connection_, Repeat::kAttempts, deadline, call.stop);
    while (true) {
      absl::Status status = Attempt(deadline, call.stop, recovery);
      if (status.ok()) return Result();
      // What an earlier call had sent was not this rig; the server has dropped it.
      const bool restart = absl::IsAborted(status) && !std::exchange(restarted_, true);
      if (!restart && !recovery.TryAgain(status)) return status;
    }
  }

 private:
  // Asks what the server holds, then sends the rest until the rig is stored.
  absl::Status Attempt(absl::Time deadline, const std::stop_token& stop, Recovery& recovery) {
    std::size_t held = 0;
    for (bool ask = true;; ask = false) {
      SINEW_RETURN_IF_ERROR(
          connection_.RunOnce(deadline, stop, RouteOfRig(name_), [&](grpc::ClientContext& context) {
            return Send(context, ask ? std::string_view() : bytes_, held);
          }));
      const std::size_t now = response_.has_rig() ? bytes_.size() : response_.committed_bytes();
      if (!ask) sent_bytes_ += now - std::min(now, held);
      if (response_.has_rig()) return absl::OkStatus();
      if (now > bytes_.size() || (!ask && now <= held)) {
        return absl::InternalError(
            absl::StrCat("committed_bytes: got ", now, " after ", held, " of ", bytes_.size()));
      }
      if (now > held) recovery.Progress();
      held = now;
    }
  }

  // One UploadRig call: the header, then the pieces of `bytes` from `offset` on.
  absl::Status Send(grpc::ClientContext& context, std::string_view bytes, std::size_t offset) {
    response_.Clear();
    const auto writer = connection_.rigs().UploadRig(&context, &response_);
    v1::UploadRigRequest request;
    *request.mutable_header() = header_;
    request.set_offset(offset);
    bool open = writer->Write(request);
    while (open && offset < bytes.size()) {
      const std::size_t size = std::min(connection_.options().piece_bytes, bytes.size() - offset);
      request.Clear();
      request.set_offset(offset);
      request.set_data(bytes.data() + offset, size);
      open = writer->Write(request);
      if (!open) break;
      offset += size;
      if (progress_) progress_(offset, bytes.size());
    }
    if (open) writer->WritesDone();
    return FromGrpc(writer->Finish());
  }

  absl::StatusOr<UploadedRig> Result() const {
    if (response_.rig().name() != name_) {
      return absl::DataLossError(
          absl::StrCat("rig.name: got ", response_.rig().name(), ", need ", name_));
    }
    return UploadedRig{.rig = ToRigSummary(response_.rig()),
                       .was_stored = sent_bytes_ == 0,
                       .sent_bytes = sent_bytes_};
  }

  Connection& connection_;
  const std::string name_;
  const std::string_view bytes_;
  const UploadProgress& progress_;
  v1::UploadHeader header_;
  v1::UploadRigResponse response_;  // of the last call
  std::uint64_t sent_bytes_ = 0;    // in calls that succeeded
  bool restarted_ = false;
};

}  // namespace

absl::StatusOr<UploadedRig> Client::UploadRig(std::string_view bytes,
                                              const UploadProgress& progress,
                                              const CallOptions& call) const {
  if (bytes.empty()) return absl::InvalidArgumentError("bytes: got 0, need a serialised rig");
  return Upload(*connection_, bytes, progress).Run(call);
}

absl::StatusOr<UploadedRig> Client::UploadRig(const RigData& rig, const UploadProgress& progress,
                                              const CallOptions& call) const {
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, EncodeRig(rig));
  return UploadRig(bytes, progress, call);
}

absl::StatusOr<RigSummary> Client::GetRig(const std::string& name, const CallOptions& call) const {
  v1::GetRigRequest request;
  request.set_name(name);
  SINEW_ASSIGN_OR_RETURN(
      const auto response,
      connection_->Call(connection_->rigs(), &RigStub::GetRig, request, call, RouteOfRig(name)));
  return ToRigSummary(response.rig());
}

absl::StatusOr<std::string> Client::DownloadRig(const std::string& name,
                                                const UploadProgress& progress,
                                                const CallOptions& call) const {
  std::string bytes;
  const auto attempt = [&](grpc::ClientContext& context) -> absl::Status {
    v1::DownloadRigRequest request;
    request.set_name(name);
    request.set_offset(bytes.size());
    const auto reader = connection_->rigs().DownloadRig(&context, request);
    v1::DownloadRigResponse piece;
    while (reader->Read(&piece)) {
      if (piece.offset() != bytes.size()) {
        context.TryCancel();
        while (reader->Read(&piece)) {
        }
        (void)reader->Finish();
        return absl::InternalError(absl::StrCat("DownloadRig: piece at offset ", piece.offset(),
                                                ", expected ", bytes.size()));
      }
      bytes += piece.data();
      if (progress) progress(bytes.size(), piece.size_bytes());
    }
    return FromGrpc(reader->Finish());
  };
  SINEW_RETURN_IF_ERROR(connection_->Run(call, RouteOfRig(name), attempt));
  if (RigName(bytes) != name) {
    return absl::DataLossError(
        absl::StrCat(name, ": got ", bytes.size(), " bytes of another SHA-256, ", RigName(bytes)));
  }
  return bytes;
}

absl::Status Client::DeleteRig(const std::string& name, const CallOptions& call) const {
  v1::DeleteRigRequest request;
  request.set_name(name);
  return connection_->Delete(connection_->rigs(), &RigStub::DeleteRig, request, call,
                             RouteOfRig(name));
}

absl::Status Client::ForEachRig(const std::function<bool(const RigSummary&)>& each,
                                const CallOptions& call) const {
  v1::ListRigsRequest request;
  do {
    SINEW_ASSIGN_OR_RETURN(
        const auto response,
        connection_->Call(connection_->rigs(), &RigStub::ListRigs, request, call));
    for (const v1::RigSummary& rig : response.rigs()) {
      if (!each(ToRigSummary(rig))) return absl::OkStatus();
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

}  // namespace sinew::client
