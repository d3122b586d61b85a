#include "server/process/probe.h"

#include <absl/strings/str_cat.h>
#include <absl/synchronization/notification.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <vector>

namespace sinew::server {
namespace {

constexpr std::chrono::seconds kDeadline{5};
// HealthCheckResponse{status: SERVING}; Debian packages no stubs of the health service.
constexpr char kServing[] = "\x08\x01";

std::string Text(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!message.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(slice.begin(), slice.end());
  return text;
}

}  // namespace

absl::Status ProbeHealth(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY,
                   0);  // a health check asks this machine, not http_proxy
  grpc::GenericStub stub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  const grpc::Slice empty;
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  absl::Notification done;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request, &response,
                 [&](const grpc::Status& result) {
                   status = result;
                   done.Notify();
                 });
  done.WaitForNotification();
  if (!status.ok()) {
    return absl::UnavailableError(absl::StrCat("probe ", address, ": ", status.error_message()));
  }
  if (Text(response) != kServing) {
    return absl::UnavailableError(absl::StrCat("probe ", address, ": the server is not serving"));
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
