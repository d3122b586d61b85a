// call.h - what all RPCs share: admission while draining, metrics, the log, status details, and
// whether a cancelled call has passed its deadline.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "server/access/scope.h"
#include "server/base/caller.h"
#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"
#include "server/runtime.h"

namespace sinew::server {

// One method of a service; made when the server starts.
struct RpcMethod {
  Runtime& runtime;
  std::string name;        // "DeformService/Deform"
  Scope scope;             // that the caller needs
  bool work = false;       // refused while draining; a drain waits for it
  bool blocking = false;   // RunUnary: the body runs on the workers
  bool audited = false;    // it changes something: a line in the audit log
  Quota* limit = nullptr;  // CallReactor: of calls at a time
  MethodMetrics metrics = runtime.metrics.AddMethod("sinew.v1." + name);
};

// One call, from its start to its end.
class Call {
 public:
  Call(const RpcMethod& method, grpc::CallbackServerContext* context);
  // A call that was never ended counts as cancelled.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // kUnauthenticated, kPermissionDenied: as Access::Admit. kUnavailable: draining, and this method
  // is work.
  absl::Status Begin();

  // The status to finish the call with; counts it, the first time.
  grpc::Status End(absl::Status status);

  const RpcMethod& method() const { return method_; }
  const Caller& caller() const { return caller_; }  // authenticated by Begin
  // What the call concerns, for the log: the name of a rig or session. Before End.
  void SetObject(std::string name) { object_ = std::move(name); }

  // Requests stop of the work in progress for the call. Thread-safe, like stop_token.
  void Cancel() { stop_.request_stop(); }
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  const RpcMethod& method_;
  const grpc::CallbackServerContext& context_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::chrono::system_clock::time_point deadline_;
  std::string trace_;  // trace id of the caller's traceparent, or empty
  std::string object_;
  Caller caller_;
  Quota::Permit permit_;
  std::stop_source stop_;
  bool ended_ = false;
};

// Ends a call whose reader blocks a write: `final` (code and message, no details) overtakes what is
// waiting. The reactor must have been finished.
void CutOff(grpc::CallbackServerContext& context, const grpc::Status& final);

// RESOURCE_EXHAUSTED, reason WINDOW_STALLED: `what` for `seconds`.
absl::Status Stalled(const std::string& what, double seconds);

// Parses a raw request. kInvalidArgument: the bytes are not one, or an unknown field in it.
template <class Request>
absl::Status ParseRequest(const grpc::ByteBuffer& bytes, Request& request) {
  grpc::ByteBuffer copy(bytes);  // refers to the same slices
  if (grpc::SerializationTraits<Request>::Deserialize(&copy, &request).ok()) {
    return RefuseUnknownFields(request, "");
  }
  return InvalidField("request",
                      absl::StrCat("the bytes are not a ", Request::descriptor()->name()));
}

// Deletes itself when the call is done.
class UnaryReactor final : public grpc::ServerUnaryReactor {
 public:
  UnaryReactor(const RpcMethod& method, grpc::CallbackServerContext* context)
      : call(method, context) {}
  void OnCancel() override { call.Cancel(); }
  void OnDone() override { delete this; }

  Call call;
};

// A unary RPC: calls body(Call&) -> absl::Status and finishes the call with the result. Its
// request and response live until then.
template <class Body>
grpc::ServerUnaryReactor* RunUnary(const RpcMethod& method, grpc::CallbackServerContext* context,
                                   Body body) {
  auto* const reactor = new UnaryReactor(method, context);
  const auto finish = [reactor](absl::Status status) {
    reactor->Finish(reactor->call.End(std::move(status)));
  };
  if (const absl::Status refused = reactor->call.Begin(); !refused.ok()) {
    finish(refused);
    return reactor;
  }
  auto run = [=] {
    Call& call = reactor->call;
    finish(CatchExceptions([&]() -> absl::Status { return body(call); }));
  };
  if (!method.blocking) {
    run();
  } else if (const absl::Status posted = method.runtime.workers.Post(run); !posted.ok()) {
    finish(posted);
  }
  return reactor;
}

}  // namespace sinew::server
