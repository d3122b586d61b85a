#include "server/process/admin_guard.h"

#include <absl/strings/match.h>
#include <grpc/grpc.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "server/calls/call_log.h"

namespace sinew::server {
namespace {

using Point = grpc::experimental::InterceptionHookPoints;

class Guard final : public grpc::experimental::Interceptor {
 public:
  Guard(Runtime& runtime, grpc::experimental::ServerRpcInfo& info)
      : runtime_(runtime), method_(info.method()), context_(*info.server_context()) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA)) {
      Caller caller{.peer = runtime_.access->PeerOf(context_), .tenant = {}, .principal = {}};
      absl::Status admitted =
          runtime_.calls.Take(caller.client(), std::chrono::steady_clock::now());
      if (admitted.ok()) admitted = runtime_.access->Admit(context_, Scope::kAdmin, caller);
      if (admitted.ok()) {
        // Reflection is a stream that may stay open.
        absl::StatusOr<Quota::Permit> place = runtime_.watches.Take(caller.client());
        admitted = place.status();
        if (place.ok()) place_ = *std::move(place);
      }
      if (!admitted.ok()) {
        LogCall(runtime_,
                {.caller = caller,
                 .method = std::string_view(method_).substr(1),
                 .object = {},
                 .trace = {},
                 .seconds = 0,
                 .audited = false},
                admitted);
        // The handler still runs, on a call that has ended: it can neither read nor answer.
        grpc_call_cancel_with_status(context_.c_call(),
                                     static_cast<grpc_status_code>(admitted.code()),
                                     std::string(admitted.message()).c_str(), nullptr);
      }
    }
    methods->Proceed();
  }

 private:
  Runtime& runtime_;
  const std::string method_;
  grpc::ServerContextBase& context_;
  Quota::Permit place_;  // until the call ends
};

class Guards final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Guards(Runtime& runtime) : runtime_(runtime) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const bool guarded = absl::StartsWith(info->method(), "/grpc.reflection.") ||
                         absl::StartsWith(info->method(), "/grpc.channelz.");
    return guarded ? new Guard(runtime_, *info) : nullptr;
  }

 private:
  Runtime& runtime_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAdminGuard(
    Runtime& runtime) {
  return std::make_unique<Guards>(runtime);
}

}  // namespace sinew::server
