// call.h - what all RPCs share: admission while draining, memory held, metrics, the log, status
// details, and whether a cancelled call has passed its deadline.
//
// gRPC passes the bytes of messages, so that they are counted before they are parsed.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/synchronization/mutex.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/access/scope.h"
#include "server/base/caller.h"
#include "server/base/status.h"
#include "server/runtime.h"

namespace sinew::server {

// One method of a service; made when the server starts.
struct RpcMethod {
  Runtime& runtime;
  std::string package = "sinew.v1";
  std::string name;           // "DeformService/Deform"
  Scope scope;                // that the caller needs
  bool authenticated = true;  // false: needs no credentials, as health checks; `scope` is kAny
  bool work = false;          // refused while draining; a drain waits for it
  bool audited = false;       // it changes something: a line in the audit log
  Quota* limit = nullptr;     // of calls at a time; null = none
  MethodMetrics metrics = runtime.metrics.AddMethod(absl::StrCat(package, ".", name));
};

struct FinishedCall;

// One call, from its start to its end.
class Call {
 public:
  Call(const RpcMethod& method, grpc::CallbackServerContext* context);
  // A call that was never ended counts as cancelled.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // kUnauthenticated, kPermissionDenied: as Access::Admit. kUnavailable: draining, and this method
  // is work. kResourceExhausted: as Hold.
  absl::Status Begin();

  // A place within the method's limit; null if it has none. kResourceExhausted.
  absl::StatusOr<Quota::Permit> TakePlace() const;

  // Counts memory as held until this object is destroyed. kResourceExhausted: calls hold too much.
  absl::Status Hold(std::uint64_t bytes);
  // Holds the bytes of a request and what it takes once parsed. kResourceExhausted: also if it has
  // too many fields.
  absl::Status HoldRequest(const google::protobuf::Descriptor& type, const grpc::ByteBuffer& bytes);

  // The status to finish the call with; counts it, the first time.
  grpc::Status End(absl::Status status);

  const RpcMethod& method() const { return method_; }
  const Caller& caller() const { return caller_; }  // authenticated by Begin
  // What the call concerns, for the log: the name of a rig or session. Before End; a cancelled call
  // ends while its body runs.
  void SetObject(std::string name) {
    const absl::MutexLock lock(&object_mutex_);
    object_ = std::move(name);
  }

  // Says that a call of an audited method has made its change. Writes the line of the audit log at
  // once, since the client may cancel the call before its end.
  void ReportChange();
  // Says that this call of such a method changes nothing. Before End.
  void SetUnaudited() { audited_ = false; }

  // Requests stop of the work in progress for the call. Thread-safe, like stop_token.
  void Cancel() { stop_.request_stop(); }
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  FinishedCall Finished(bool audited) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(object_mutex_);

  const RpcMethod& method_;
  const grpc::CallbackServerContext& context_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::chrono::system_clock::time_point deadline_;
  std::string trace_;  // trace id of the caller's traceparent, or empty
  absl::Mutex object_mutex_;
  std::string object_ ABSL_GUARDED_BY(object_mutex_);
  Caller caller_;
  Quota::Permit permit_;
  std::vector<Quota::Permit> held_;
  std::stop_source stop_;
  std::atomic<bool> audited_{true};  // at the end; cleared by the body
  bool ended_ = false;
};

// Ends a call whose reader blocks a write: `final` (code and message, no details) overtakes what is
// waiting. The reactor must have been finished.
void CutOff(grpc::CallbackServerContext& context, const grpc::Status& final);

// RESOURCE_EXHAUSTED, reason WINDOW_STALLED: `what` for `time`.
absl::Status Stalled(const std::string& what, std::chrono::duration<double> time);

// RESOURCE_EXHAUSTED with RetryInfo: other clients wait for what a message occupies while it
// arrives.
absl::Status Displaced();

// UNAVAILABLE, reason TOO_OLD: the call has been open for `age`.
absl::Status TooOld(std::chrono::duration<double> age);

// What a message takes while it is there serialised and parsed. kResourceExhausted: it has too many
// fields.
absl::StatusOr<std::uint64_t> CheckFields(const google::protobuf::Descriptor& type,
                                          const grpc::ByteBuffer& bytes,
                                          const NetworkConfig& limits);

// kInvalidArgument: the bytes are no such message.
template <class Message>
absl::Status Parse(const grpc::ByteBuffer& bytes, Message& message) {
  grpc::ByteBuffer copy(bytes);  // refers to the same slices
  if (grpc::SerializationTraits<Message>::Deserialize(&copy, &message).ok()) {
    return absl::OkStatus();
  }
  return InvalidField("request",
                      absl::StrCat("the bytes are not a ", Message::descriptor()->name()));
}

// Parses the request of a call, which holds it from now on. Errors as above.
template <class Request>
absl::Status ParseRequest(Call& call, const grpc::ByteBuffer& bytes, Request& request) {
  SINEW_RETURN_IF_ERROR(call.HoldRequest(*Request::descriptor(), bytes));
  return Parse(bytes, request);
}

template <class Message>
grpc::ByteBuffer ToBytes(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own = false;
  grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own);
  return bytes;
}

}  // namespace sinew::server
