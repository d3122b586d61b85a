#include "server/services/health_service.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "grpc/health/v1/health.pb.h"
#include "server/calls/unary_call.h"
#include "server/calls/update_call.h"

namespace sinew::server {
namespace {

namespace health = grpc::health::v1;
using Response = health::HealthCheckResponse;

constexpr std::array<std::string_view, 5> kServices = {
    "", "sinew.v1.RigService", "sinew.v1.SessionService", "sinew.v1.DeformService",
    "sinew.v1.InfoService"};

Response::ServingStatus StatusOf(const Runtime& runtime, std::string_view service) {
  if (std::ranges::find(kServices, service) == kServices.end()) return Response::SERVICE_UNKNOWN;
  return runtime.work.closed() ? Response::NOT_SERVING : Response::SERVING;
}

class WatchHealthCall final : public UpdateCall<WatchHealthCall, Response> {
 public:
  using UpdateCall::UpdateCall;

 private:
  friend CallReactor;

  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    health::HealthCheckRequest request;
    SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request));
    service_ = request.service();
    StartUpdates();
    Update();
    return absl::OkStatus();
  }
  // Tells of the drain; ends with the server.
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { Update(); }
  bool HasNews() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return StatusOf(runtime_, service_) != sent_;
  }
  absl::StatusOr<bool> Report(Response& response) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    sent_ = StatusOf(runtime_, service_);
    response.set_status(sent_);
    return false;
  }

  std::string service_;  // constant after OnStart
  Response::ServingStatus sent_ ABSL_GUARDED_BY(mutex_) = Response::UNKNOWN;
};

}  // namespace

void AddHealthMethods(Runtime& runtime, RpcService& service) {
  service.Add({.runtime = runtime,
               .package = "grpc.health.v1",
               .name = "Health/Check",
               .scope = Scope::kAny,
               .authenticated = false},
              Unary<health::HealthCheckRequest, Response>(
                  [&runtime](const Call&, const health::HealthCheckRequest& request,
                             Response& response) -> absl::Status {
                    response.set_status(StatusOf(runtime, request.service()));
                    return response.status() == Response::SERVICE_UNKNOWN
                               ? absl::NotFoundError("service: no such service")
                               : absl::OkStatus();
                  }));
  service.Add({.runtime = runtime,
               .package = "grpc.health.v1",
               .name = "Health/Watch",
               .scope = Scope::kAny,
               .authenticated = false,
               .limit = &runtime.watches},
              WatchHealthCall::Start<>);
}

}  // namespace sinew::server
