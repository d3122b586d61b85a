#include "server/calls/call.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <grpc/grpc.h>

#include <algorithm>

#include "core/base/status.h"
#include "server/calls/call_log.h"

namespace sinew::server {
namespace {

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
  SINEW_RETURN_IF_ERROR(method_.runtime.access->Admit(context_, method_.scope, caller_));
  if (!method_.work) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(permit_, method_.runtime.work.Take({}));
  return absl::OkStatus();
}

void CutOff(grpc::CallbackServerContext& context, const grpc::Status& final) {
  grpc_call_cancel_with_status(context.c_call(), static_cast<grpc_status_code>(final.error_code()),
                               final.error_message().c_str(), nullptr);
}

absl::Status Stalled(const std::string& what, double seconds) {
  return WithReason(
      absl::ResourceExhaustedError(absl::StrCat("stream: ", what, " for ", seconds, " s")),
      v1::REASON_WINDOW_STALLED);
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
    const double seconds = SecondsSince(start_);
    method_.metrics.Finished(static_cast<int>(status.code()), seconds);
    LogCall(method_.runtime,
            {.caller = caller_,
             .method = method_.name,
             .object = object_,
             .trace = trace_,
             .seconds = seconds,
             .audited = method_.audited},
            status);
  }
  return ToGrpc(status);
}

}  // namespace sinew::server
