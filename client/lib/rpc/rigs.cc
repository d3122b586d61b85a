#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/sha256.h"
#include "client/lib/codec/status_macros.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/status_codec.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

constexpr char kNamePrefix[] = "rigs/sha256-";

// One UploadRig call: the header, then the bytes from `offset` on in pieces; none if offset is the
// end.
absl::Status SendPieces(Connection& connection, grpc::ClientContext& context,
                        const v1::UploadHeader& header, std::string_view bytes, std::size_t offset,
                        const UploadProgress& progress, v1::UploadRigResponse& response) {
  const auto writer = connection.rigs().UploadRig(&context, &response);
  v1::UploadRigRequest request;
  *request.mutable_header() = header;
  request.set_offset(offset);
  bool open = writer->Write(request);
  while (open && offset < bytes.size()) {
    const std::size_t size = std::min(connection.options().piece_bytes, bytes.size() - offset);
    request.Clear();
    request.set_offset(offset);
    request.set_data(bytes.data() + offset, size);
    open = writer->Write(request);
    if (!open) break;
    offset += size;
    if (progress) progress(offset, bytes.size());
  }
  if (open) writer->WritesDone();
  return FromGrpc(writer->Finish());
}

}  // namespace

absl::StatusOr<UploadedRig> Client::UploadRig(std::string_view bytes,
                                              const UploadProgress& progress,
                                              const CallOptions& call) const {
  if (bytes.empty()) return absl::InvalidArgumentError("bytes: got 0, need a serialised rig");
  v1::UploadHeader header;
  header.set_sha256(Sha256Hex(bytes));
  header.set_size_bytes(bytes.size());
  const absl::Time deadline = connection_->Deadline(call);
  Retrier retrier(*connection_, Repeat::kAttempts, deadline, call.stop);
  UploadedRig result;
  std::size_t held = 0;  // what the server said it has
  bool ask = true;       // the next call sends the header alone
  while (true) {
    v1::UploadRigResponse response;
    const absl::Status status =
        connection_->RunOnce(deadline, call.stop, [&](grpc::ClientContext& context) {
          return SendPieces(*connection_, context, header, ask ? std::string_view() : bytes, held,
                            progress, response);
        });
    if (!status.ok()) {
      if (!retrier.Again(status)) {
        return call.stop.stop_requested() ? absl::CancelledError("cancelled by the caller")
                                          : status;
      }
      ask = true;
      held = 0;
      continue;
    }
    if (response.has_rig()) {
      const std::string expected = absl::StrCat(kNamePrefix, header.sha256());
      if (response.rig().name() != expected) {
        return absl::DataLossError(
            absl::StrCat("rig.name: got ", response.rig().name(), ", need ", expected));
      }
      result.rig = ToRigSummary(response.rig());
      result.was_stored = ask && result.sent_bytes == 0;
      if (!ask) result.sent_bytes += bytes.size() - held;
      return result;
    }
    if (response.committed_bytes() > bytes.size() || (!ask && response.committed_bytes() <= held)) {
      return absl::InternalError(absl::StrCat("committed_bytes: got ", response.committed_bytes(),
                                              " after ", held, " of ", bytes.size()));
    }
    if (response.committed_bytes() > held) retrier.Progress();
    if (!ask) result.sent_bytes += response.committed_bytes() - held;
    held = response.committed_bytes();
    ask = false;
  }
}

absl::StatusOr<UploadedRig> Client::UploadRig(const RigData& rig, const UploadProgress& progress,
                                              const CallOptions& call) const {
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, EncodeRig(rig));
  return UploadRig(bytes, progress, call);
}

absl::StatusOr<RigSummary> Client::GetRig(const std::string& name, const CallOptions& call) const {
  v1::GetRigRequest request;
  request.set_name(name);
  v1::GetRigResponse response;
  SINEW_RETURN_IF_ERROR(
      connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) {
        return FromGrpc(connection_->rigs().GetRig(&context, request, &response));
      }));
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
        return absl::InternalError(
            absl::StrCat("offset: got ", piece.offset(), ", need ", bytes.size()));
      }
      bytes += piece.data();
      if (progress) progress(bytes.size(), piece.size_bytes());
    }
    return FromGrpc(reader->Finish());
  };
  SINEW_RETURN_IF_ERROR(connection_->Run(call, Repeat::kAttempts, attempt));
  if (RigName(bytes) != name) {
    return absl::DataLossError(
        absl::StrCat(name, ": got ", bytes.size(), " bytes of another SHA-256, ", RigName(bytes)));
  }
  return bytes;
}

absl::Status Client::DeleteRig(const std::string& name, const CallOptions& call) const {
  v1::DeleteRigRequest request;
  request.set_name(name);
  int attempts = 0;
  const absl::Status status =
      connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) {
        ++attempts;
        v1::DeleteRigResponse response;
        return FromGrpc(connection_->rigs().DeleteRig(&context, request, &response));
      });
  // An earlier attempt may have done it before its answer was lost.
  return attempts > 1 && absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status Client::ForEachRig(const std::function<bool(const RigSummary&)>& each,
                                const CallOptions& call) const {
  v1::ListRigsRequest request;
  do {
    v1::ListRigsResponse response;
    SINEW_RETURN_IF_ERROR(
        connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) {
          return FromGrpc(connection_->rigs().ListRigs(&context, request, &response));
        }));
    for (const v1::RigSummary& rig : response.rigs()) {
      if (!each(ToRigSummary(rig))) return absl::OkStatus();
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

}  // namespace sinew::client
