#include "server/process/admin_guard.h"

#include <absl/strings/match.h>
#include <grpc/grpc.h>

#include <string>

namespace sinew::server {
namespace {

using Point = grpc::experimental::InterceptionHookPoints;

class Guard final : public grpc::experimental::Interceptor {
 public:
  Guard(const Access& access, grpc::ServerContextBase& context)
      : access_(access), context_(context) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(Point::POST_RECV_INITIAL_METADATA)) {
      Caller caller;
      const absl::Status admitted = access_.Admit(context_, Scope::kAdmin, caller);
      if (!admitted.ok()) {
        // The handler still runs, on a call that has ended: it can neither read nor answer.
        grpc_call_cancel_with_status(context_.c_call(),
                                     static_cast<grpc_status_code>(admitted.code()),
                                     std::string(admitted.message()).c_str(), nullptr);
      }
    }
    methods->Proceed();
  }

 private:
  const Access& access_;
  grpc::ServerContextBase& context_;
};

class Guards final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Guards(const Access& access) : access_(access) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    const bool guarded = absl::StartsWith(info->method(), "/grpc.reflection.") ||
                         absl::StartsWith(info->method(), "/grpc.channelz.");
    return guarded ? new Guard(access_, *info->server_context()) : nullptr;
  }

 private:
  const Access& access_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAdminGuard(
    const Access& access) {
  return std::make_unique<Guards>(access);
}

}  // namespace sinew::server
