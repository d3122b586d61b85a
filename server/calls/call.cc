#include "server/calls/call.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <grpc/grpc.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "server/base/parsing_memory.h"
#include "server/calls/call_log.h"
#include "server/convert/field_count.h"

namespace sinew::server {
namespace {

// Memory of any call, here and in gRPC, besides its messages; a stream without poses takes 22 kB.
constexpr std::uint64_t kCallBytes = 32 << 10;

// Counting the fields of a message this small is not worth its time: no field has less than two
// bytes.
constexpr std::size_t kUncounted = 512;

// traceparent: version-traceid-parentid-flags; only the trace id matters here. Empty unless it is
// one: the log must not repeat arbitrary bytes.
std::string TraceOf(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("traceparent");
  constexpr std::size_t kBegin = 3, kSize = 32;
  if (found == metadata.end() || found->second.size() < kBegin + kSize) return {};
  std::string trace(found->second.data() + kBegin, kSize);
  if (!std::all_of(trace.begin(), trace.end(), absl::ascii_isxdigit)) return {};
  return trace;
}

}  // namespace

Call::Call(const RpcMethod& method, grpc::CallbackServerContext* context)
    : method_(method),
      context_(*context),
      deadline_(context->deadline()),
      trace_(TraceOf(*context)),
      caller_{.peer = method.runtime.access->PeerOf(*context), .tenant = {}, .principal = {}} {
  method_.metrics.in_flight->Increment();
}

Call::~Call() {
  if (!ended_) End(absl::CancelledError("call: dropped"));
}

absl::Status Call::Begin() {
  // Before a token is looked at, which takes time, the call counts for its peer.
  SINEW_RETURN_IF_ERROR(method_.runtime.calls.Take(caller_.client(), start_));
  if (method_.authenticated) {
    SINEW_RETURN_IF_ERROR(method_.runtime.access->Admit(context_, method_.scope, caller_));
    method_.runtime.CountCall();
  }
  if (!caller_.tenant.empty()) {
    SINEW_RETURN_IF_ERROR(method_.runtime.calls.Take(caller_.client(), start_));
  }
  if (method_.work) {
    SINEW_ASSIGN_OR_RETURN(permit_, method_.runtime.work.Take({}));
  }
  return Hold(kCallBytes);
}

absl::StatusOr<Quota::Permit> Call::TakePlace() const {
  if (method_.limit == nullptr) return Quota::Permit();
  return method_.limit->Take(caller_.client());
}

absl::Status Call::Hold(std::uint64_t bytes) {
  SINEW_ASSIGN_OR_RETURN(Quota::Permit permit,
                         method_.runtime.held_bytes.Take(caller_.client(), bytes));
  held_.push_back(std::move(permit));
  return absl::OkStatus();
}

absl::Status Call::HoldRequest(const google::protobuf::Descriptor& type,
                               const grpc::ByteBuffer& bytes) {
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t size,
                         CheckFields(type, bytes, method_.runtime.config.network));
  return Hold(size);
}

absl::StatusOr<std::uint64_t> CheckFields(const google::protobuf::Descriptor& type,
                                          const grpc::ByteBuffer& bytes,
                                          const NetworkConfig& limits) {
  const std::size_t length = bytes.Length();
  if (length <= kUncounted) return 2 * length + length / 2 * kBytesPerField;
  grpc::ByteBuffer copy(bytes);  // refers to the same slices
  grpc::ProtoBufferReader reader(&copy);
  const std::uint64_t fields = CountFields(type, reader, limits.message_fields);
  SINEW_RETURN_IF_ERROR(
      CheckLimit("request", fields, limits.message_fields, "fields or more", "max-message-fields"));
  return 2 * length + fields * kBytesPerField;
}

void CutOff(grpc::CallbackServerContext& context, const grpc::Status& final) {
  grpc_call_cancel_with_status(context.c_call(), static_cast<grpc_status_code>(final.error_code()),
                               final.error_message().c_str(), nullptr);
}

absl::Status Stalled(const std::string& what, std::chrono::duration<double> time) {
  return WithReason(LimitExceeded("stream", absl::StrFormat("%s for %g s", what, time.count()),
                                  "max-stall-seconds"),
                    v1::REASON_WINDOW_STALLED);
}

absl::Status Displaced() {
  return WithRetry(LimitExceeded("request", "no complete message has arrived while others wait",
                                 "max-arriving-messages"),
                   absl::Seconds(1));
}

absl::Status TooOld(std::chrono::duration<double> age) {
  return WithReason(absl::UnavailableError(absl::StrFormat(
                        "call: open for %.0f s (max-stream-seconds); call again", age.count())),
                    v1::REASON_TOO_OLD);
}

FinishedCall Call::Finished(bool audited) const {
  return {.caller = caller_,
          .method = method_.name,
          .object = object_,
          .trace = trace_,
          .seconds = SecondsSince(start_),
          .audited = audited};
}

void Call::ReportChange() {
  if (!method_.audited || !audited_.exchange(false)) return;
  const absl::MutexLock lock(&object_mutex_);
  AuditChange(method_.runtime, Finished(true));
}

grpc::Status Call::End(absl::Status status) {
  if (status.code() == absl::StatusCode::kUnknown) {
    status = absl::InternalError(status.message());
  }
  if (status.code() == absl::StatusCode::kCancelled &&
      std::chrono::system_clock::now() >= deadline_) {
    status = absl::DeadlineExceededError("call: its deadline has passed");
  }
  status = WithDetails(std::move(status));
  if (!ended_) {
    ended_ = true;
    method_.metrics.Finished(static_cast<int>(status.code()), SecondsSince(start_));
    const absl::MutexLock lock(&object_mutex_);
    LogCall(method_.runtime, Finished(method_.audited && audited_), status);
  }
  return ToGrpc(status);
}

}  // namespace sinew::server
