#include "client/lib/rpc/connection.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <limits>
#include <stop_token>
#include <string>
#include <utility>

#include "client/lib/rpc/address.h"
#include "client/lib/rpc/channel.h"
#include "client/lib/rpc/proxy.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/rpc/traceparent.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::size_t kLargestMessage = std::size_t{1} << 30;
// A stop takes effect between two slices.
constexpr int kReconnectSlices = 5;
const absl::Duration kReconnectSlice = absl::Milliseconds(50);
constexpr std::size_t kLargestRequest = std::size_t{4} << 20;  // of the server

absl::Status CheckRange(const char* field, std::size_t value, std::size_t min, std::size_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", value, ", need ", min, " to ", max));
}

absl::Status CheckMetadata(const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    const bool legal = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    });
    const bool printable =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!legal || !printable) {
      return absl::InvalidArgumentError(
          absl::StrCat("metadata: got key \"", key,
                       "\", need lower-case letters, digits, - _ . and printable ASCII values"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const ClientOptions& options) {
  SINEW_RETURN_IF_ERROR(CheckPolicy(options.retry));
  SINEW_RETURN_IF_ERROR(
      CheckRange("max_receive_bytes", options.max_receive_bytes, 64 << 10, kLargestMessage));
  SINEW_RETURN_IF_ERROR(CheckRange("piece_bytes", options.piece_bytes, 1, kLargestRequest - 4096));
  SINEW_RETURN_IF_ERROR(
      CheckRange("compare_block_bytes", options.compare_block_bytes, 1, kLargestRequest - 4096));
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "deadline: got ", absl::FormatDuration(options.deadline), ", need more than 0"));
  }
  if (options.traceparent && options.metadata.contains("traceparent")) {
    return absl::InvalidArgumentError("traceparent: got it in metadata too, need one of them");
  }
  return CheckMetadata(options.metadata);
}

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::clamp<std::int64_t>(absl::ToInt64Milliseconds(duration), 1,
                                                   std::numeric_limits<int>::max()));
}

grpc::ChannelArguments ChannelArguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.max_receive_bytes));
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.keepalive_timeout));
  // gRPC's default is to wait up to two minutes between attempts to connect.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   Milliseconds(options.retry.initial_backoff));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, Milliseconds(options.retry.max_backoff));
  // One socket per client: a client that stops reading must not slow down another.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // see Through
  if (options.tls && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  return arguments;
}

// A token in the clear must not take the way through a proxy.
absl::StatusOr<std::optional<Proxy>> ProxyOf(const ClientOptions& options,
                                             const std::vector<std::string>& hosts) {
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  if (hosts.size() != 1 || (has_token && !options.tls)) return std::nullopt;
  return ProxyTo(hosts.front());
}

// Does what gRPC's own mapper of proxies does: connect to the proxy, and ask it for the server. The
// first two names are those of gRPC's http_connect_handshaker.h, which is not installed.
std::string Through(const Proxy& proxy, const ClientOptions& options, const std::string& host,
                    grpc::ChannelArguments& arguments) {
  arguments.SetString("grpc.http_connect_server", host);
  if (!proxy.credentials.empty()) {
    arguments.SetString(
        "grpc.http_connect_headers",
        absl::StrCat("Proxy-Authorization:Basic ", absl::Base64Escape(proxy.credentials)));
  }
  const bool named = options.tls && !options.tls->server_name.empty();
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, named ? options.tls->server_name : host);
  return absl::StrCat("dns:///", proxy.address);
}

}  // namespace

absl::StatusOr<Client> Client::Connect(const ClientOptions& options) {
  SINEW_RETURN_IF_ERROR(CheckOptions(options));
  SINEW_ASSIGN_OR_RETURN(const std::string target, TargetOf("address", options.address));
  SINEW_RETURN_IF_ERROR(CheckTokenIsSafe(options, target));
  SINEW_ASSIGN_OR_RETURN(auto token, BearerToken::From(options));
  SINEW_ASSIGN_OR_RETURN(const auto credentials, MakeChannelCredentials(options));
  const std::vector<std::string> hosts = HostsOf(target);
  SINEW_ASSIGN_OR_RETURN(const std::optional<Proxy> proxy, ProxyOf(options, hosts));
  grpc::ChannelArguments arguments = ChannelArguments(options);
  auto channel = grpc::CreateCustomChannel(
      proxy ? Through(*proxy, options, hosts.front(), arguments) : target, credentials, arguments);
  return Client(std::make_shared<Connection>(
      std::move(channel), options, std::move(token),
      proxy ? absl::StrCat(proxy->address, " of $", proxy->variable) : std::string()));
}

absl::StatusOr<Client> FromChannel(std::shared_ptr<grpc::Channel> channel,
                                   const ClientOptions& options) {
  if (channel == nullptr) return absl::InvalidArgumentError("channel: got none, need one");
  SINEW_RETURN_IF_ERROR(CheckOptions(options));
  SINEW_ASSIGN_OR_RETURN(auto token, BearerToken::From(options));
  return Client(std::make_shared<Connection>(std::move(channel), options, std::move(token)));
}

std::shared_ptr<Connection> ConnectionOf(const Client& client) {
  return client.connection_;
}

const ClientOptions& Client::options() const {
  return connection_->options();
}

Connection::Connection(std::shared_ptr<grpc::Channel> channel, ClientOptions options,
                       std::shared_ptr<BearerToken> token, std::string proxy)
    : options_(std::move(options)),
      token_(std::move(token)),
      proxy_(std::move(proxy)),
      channel_(std::move(channel)),
      raw_(channel_),
      info_(v1::InfoService::NewStub(channel_)),
      rigs_(v1::RigService::NewStub(channel_)),
      sessions_(v1::SessionService::NewStub(channel_)) {}

CallOptions CallUntil(absl::Time end, const std::stop_token& stop) {
  return {.deadline = std::max(end - absl::Now(), absl::Nanoseconds(1)), .stop = stop};
}

absl::Time Connection::Deadline(const CallOptions& call) const {
  return absl::Now() + (call.deadline > absl::ZeroDuration() ? call.deadline : options_.deadline);
}

std::string Connection::Traceparent() const {
  const std::string header = options_.traceparent ? options_.traceparent() : std::string();
  return IsTraceparent(header) ? header : std::string();
}

std::unique_ptr<grpc::ClientContext> Connection::NewContext(absl::Time deadline,
                                                            const std::string& traceparent,
                                                            const std::string& route) const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (deadline != absl::InfiniteFuture()) context->set_deadline(absl::ToChronoTime(deadline));
  for (const auto& [key, value] : options_.metadata) context->AddMetadata(key, value);
  if (const std::string header = token_->Header(); !header.empty()) {
    context->AddMetadata("authorization", header);
  }
  if (!traceparent.empty()) context->AddMetadata("traceparent", traceparent);
  if (!route.empty()) context->AddMetadata(kRouteKey, route);
  return context;
}

absl::Status Connection::WithProxy(const absl::Status& status) const {
  const bool of_transport = absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
  if (proxy_.empty() || !of_transport || !Details(status).reason.empty()) return status;
  return {status.code(), absl::StrCat(status.message(), " (through the proxy ", proxy_, ")")};
}

void Connection::Reconnect(absl::Time deadline, const std::stop_token& stop) const {
  grpc::experimental::ChannelResetConnectionBackoff(channel_.get());
  for (int slice = 0; slice < kReconnectSlices && !stop.stop_requested(); ++slice) {
    const absl::Time now = absl::Now();
    if (now >= deadline) return;
    const absl::Time end = std::min(now + kReconnectSlice, deadline);
    if (channel_->WaitForConnected(absl::ToChronoTime(end))) return;
  }
}

absl::Status Connection::RunOnce(
    absl::Time deadline, const std::stop_token& stop, const std::string& route,
    absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const {
  const std::unique_ptr<grpc::ClientContext> context = NewContext(deadline, Traceparent(), route);
  absl::Status status;
  {
    std::stop_callback cancel(stop, [&] { context->TryCancel(); });
    if (stop.stop_requested()) return absl::CancelledError("cancelled by the caller");
    status = attempt(*context);
  }
  if (!absl::IsCancelled(status)) return status;
  if (stop.stop_requested()) return absl::CancelledError("cancelled by the caller");
  return absl::UnavailableError(absl::StrCat("the call was broken off: ", status.message()));
}

absl::Status Connection::Run(const CallOptions& call, const std::string& route,
                             absl::FunctionRef<absl::Status(grpc::ClientContext&)> attempt) const {
  const absl::Time deadline = Deadline(call);
  Recovery recovery(*this, Repeat::kAttempts, deadline, call.stop);
  while (true) {
    absl::Status status = RunOnce(deadline, call.stop, route, attempt);
    if (status.ok() || !recovery.TryAgain(status)) return status;
  }
}

}  // namespace sinew::client
