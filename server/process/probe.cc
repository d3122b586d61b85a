#include "server/process/probe.h"

#include <absl/strings/str_cat.h>
#include <absl/synchronization/notification.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <utility>
#include <vector>

namespace sinew::server {
namespace {

// HealthCheckResponse{status: SERVING}; Debian packages no stubs of the health service.
constexpr char kServing[] = "\x08\x01";

// One health check, from its start to its end.
struct Check {
  explicit Check(const std::shared_ptr<grpc::Channel>& channel) : stub(channel) {}
  grpc::GenericStub stub;
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
};

std::string Text(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!message.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(slice.begin(), slice.end());
  return text;
}

}  // namespace

void CheckHealth(const std::shared_ptr<grpc::Channel>& channel, std::chrono::milliseconds timeout,
                 std::function<void(const absl::Status&)> done) {
  const auto check = std::make_shared<Check>(channel);
  const grpc::Slice empty;
  check->request = grpc::ByteBuffer(&empty, 1);
  check->context.set_deadline(std::chrono::system_clock::now() + timeout);
  check->stub.UnaryCall(&check->context, "/grpc.health.v1.Health/Check", grpc::StubOptions(),
                        &check->request, &check->response,
                        [check, done = std::move(done)](const grpc::Status& status) {
                          if (!status.ok()) {
                            done(absl::UnavailableError(status.error_message()));
                          } else if (Text(check->response) != kServing) {
                            done(absl::UnavailableError("the server is not serving"));
                          } else {
                            done(absl::OkStatus());
                          }
                        });
}

absl::Status ProbeHealth(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
                   0);  // a health check asks this machine, not http_proxy
  absl::Status health;
  absl::Notification done;
  // Kept until the end: a channel that is destroyed in its own callback aborts in gRPC 1.51.
  const auto channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  CheckHealth(channel, std::chrono::seconds(5), [&](const absl::Status& status) {
    health = status;
    done.Notify();
  });
  done.WaitForNotification();
  if (health.ok()) return health;
  return absl::UnavailableError(absl::StrCat("probe ", address, ": ", health.message()));
}

}  // namespace sinew::server
