#include "server/process/server.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/security/server_credentials.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/simd/target.h"
#include "server/base/address.h"
#include "server/process/admin_guard.h"
#include "server/process/http.h"
#include "server/process/listener.h"
#include "server/process/probe.h"
#include "server/process/process_stats.h"
#include "server/process/readiness.h"
#include "server/process/timed_http_server.h"
#include "server/process/tls_credentials.h"
#include "server/runtime.h"
#include "server/services/deform_service.h"
#include "server/services/health_service.h"
#include "server/services/info_service.h"
#include "server/services/rig_service.h"
#include "server/services/session_service.h"
#include "server/web/web_port.h"

namespace sinew::server {
namespace {

constexpr int kMessageSlack = 64 << 10;  // for the fields of a message besides its bulk data
constexpr int kMetadataBytes = 8 << 10;  // of a call besides its token, as gRPC's default is
constexpr int kHandshakeMilliseconds = 20'000;
constexpr std::chrono::milliseconds kLastWords{500};  // for replies still being sent
constexpr std::chrono::seconds kSweep{1};  // until a closed connection no longer counts, at most

// In gRPC 1.51 callback threads sleep for 100 ms after a second without events, which delays a pose
// that arrives meanwhile. A small call through the in-process channel, more than once per second,
// keeps them awake; a grpc::Alarm does not, because it does not pass through their queue.
constexpr std::chrono::milliseconds kHeartbeat{400};
constexpr std::chrono::milliseconds kBeat{300};  // at most: one ends before the next begins

// gRPC applies it to every server built later in this process; install it only once.
void InstallChannelz() {
  static std::once_flag once;
  std::call_once(once, [] { grpc::channelz::experimental::InitChannelzService(); });
}

// Linking gRPC's reflection adds it to every server. This takes it out of one.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) {
      return dynamic_cast<grpc::reflection::ProtoServerReflectionPlugin*>(plugin.get()) != nullptr;
    });
  }
};

void SetArguments(const NetworkConfig& config, std::uint64_t token_bytes,
                  grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.message_bytes) + kMessageSlack);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             static_cast<int>(token_bytes) + kMetadataBytes);
  // gRPC would decompress a message before it looks at its size, and a thousand bytes fit in one.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(config.streams_per_connection));
  // Without it, gRPC raises the window of every stream to megabytes for a fast sender, read or not.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);  // detects lost peers
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(config.connection_idle_seconds * 1e3));
  // Its calls go on, each to its own limit; new ones open another connection.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                             static_cast<int>(config.connection_seconds * 1e3));
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, config.channelz ? 1 : 0);
}

}  // namespace

class Server::State {
 public:
  static absl::StatusOr<std::unique_ptr<State>> Start(const Config& config, Clock& clock);
  // Our threads free message buffers, some of them after the last gRPC object: keep the library
  // initialised. For good, since its last shutdown may wait 10 s for a poll that nothing ends.
  State() { [[maybe_unused]] static const bool initialised = (grpc_init(), true); }
  ~State() { Stop(); }

  void Stop();
  // agent: begins its user agent, see kWebAgent.
  absl::StatusOr<std::shared_ptr<grpc::Channel>> InProcessChannel(const char* agent = "") const;

  std::unique_ptr<Runtime> runtime;
  RpcService rigs, sessions, deforms, info, health;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<grpc::Server> server;
  std::optional<Readiness> readiness;
  std::optional<HttpPort> http;
  std::unique_ptr<WebPort> web;
  std::string http_address, web_address;
  std::vector<std::string> addresses;

 private:
  absl::Status Listen(const Config& config);
  absl::Status StartWeb(const NetworkConfig& config);
  void StartTimers();
  void AddReadings();  // to the metrics

  absl::Mutex stopping_;  // held by Stop
  Timers::Id heartbeat_ = 0, sweep_ = 0;
  std::shared_ptr<grpc::ServerCredentials> credentials_;  // of ports
};

absl::StatusOr<std::unique_ptr<Server::State>> Server::State::Start(const Config& config,
                                                                    Clock& clock) {
  SINEW_RETURN_IF_ERROR(config.Validate());
  Isa isa = Isa::kAuto;
  SINEW_RETURN_IF_ERROR(ParseIsa(config.compute.isa, isa));
  SINEW_RETURN_IF_ERROR(ForceIsa(isa));
  auto state = std::make_unique<State>();
  SINEW_ASSIGN_OR_RETURN(state->runtime, Runtime::Create(config, clock));
  Runtime& runtime = *state->runtime;
  for (const std::string& name : config.unknown_variables) {
    runtime.log->warn("environment: {}: no option has this variable; it is ignored", name);
  }
  if (ActiveIsa() == Isa::kScalar && isa == Isa::kAuto) {
    runtime.log->warn("no fused multiply-add on this machine: frames are evaluated slowly");
  }
  AddRigMethods(runtime, state->rigs);
  AddSessionMethods(runtime, state->sessions);
  AddDeformMethods(runtime, state->deforms);
  AddInfoMethods(runtime, state->info);
  AddHealthMethods(runtime, state->health);
  SINEW_RETURN_IF_ERROR(state->Listen(config));
  state->StartTimers();
  state->AddReadings();
  std::vector<std::string> reached = state->addresses;
  if (state->web != nullptr) reached.push_back(state->web_address);
  for (const std::string& address : reached) {
    if (IsLocalAddress(address)) continue;
    if (!config.access.UsesTls()) {
      runtime.log->warn(
          "{} has no TLS: whoever is on the way to it can read and change all calls, and use their "
          "tokens",
          address);
    }
    if (!config.access.Authenticates()) {
      runtime.log->warn("{} has no authentication: whoever reaches it can read and delete all rigs",
                        address);
    }
  }
  if (state->web != nullptr && !IsLocalAddress(state->web_address) &&
      config.network.web_hosts.empty()) {
    runtime.log->warn("{} answers browsers of this machine only: --web-host names it for others",
                      state->web_address);
  }
  const ComputeConfig& compute = runtime.config.compute;
  runtime.log->info("serving on {}; http {}; web {}; {}, {}, memory {} MB",
                    absl::StrJoin(state->addresses, ", "),
                    config.network.http == "off" ? "off" : state->http_address,
                    config.network.web == "off" ? "off" : state->web_address,
                    CountedText(compute.threads, "thread"), std::string(IsaName(ActiveIsa())),
                    compute.memory_bytes / 1'000'000);
  return state;
}

absl::Status Server::State::Listen(const Config& whole) {
  const NetworkConfig& config = whole.network;
  // Files, the HTTP port and gRPC itself need descriptors as well.
  const std::uint64_t files = FileLimit(),
                      probes = config.http == "off" ? 0 : TimedHttpServer::MostConnections(),
                      browsers = config.web == "off" ? 0 : config.web_connections,
                      others = std::min<std::uint64_t>(256 + probes + browsers, files / 2);
  runtime->SetMostConnections(files - others);
  SINEW_ASSIGN_OR_RETURN(listener,
                         Listener::Bind(config.listen, config.http, runtime->connections));
  addresses = listener->addresses();
  http_address = listener->http_address();
  readiness.emplace(*runtime, addresses.empty() ? std::string() : addresses.front());
  if (config.channelz) InstallChannelz();
  grpc::ServerBuilder builder;
  SetArguments(config, whole.access.token_bytes, builder);
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  credentials_ = runtime->access->certificates() == nullptr ? grpc::InsecureServerCredentials()
                                                            : MakeTlsCredentials(*runtime->access);
  auto ports = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials_);
  // Unix sockets have no TLS: the permissions of their file protect them.
  auto unix_sockets = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::InsecureServerCredentials());
  // Tells Access which calls come from this process.
  auto own = builder.experimental().AddExternalConnectionAcceptor(
      Type::FROM_FD, grpc::experimental::LocalServerCredentials(UDS));
  if (!whole.access.Reflects()) builder.SetOption(std::make_unique<WithoutReflection>());
  if (whole.access.Reflects() || config.channelz) {
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> guards;
    guards.push_back(MakeAdminGuard(*runtime));
    builder.experimental().SetInterceptorCreators(std::move(guards));
  }
  for (RpcService* service : {&rigs, &sessions, &deforms, &info, &health}) {
    builder.RegisterService(service);
  }
  server = builder.BuildAndStart();
  if (server == nullptr) return absl::UnavailableError("listen: gRPC did not start");
  Listener::Acceptors acceptors{
      .ports = std::move(ports), .unix_sockets = std::move(unix_sockets), .own = std::move(own)};
  if (config.http != "off") {
    http.emplace(
        *runtime,
        HttpPort::Pages{.metrics = [this] { return runtime->metrics.Text(runtime->Stats()); },
                        .ready = [this] { return readiness->Check(); }});
    acceptors.http = [this](Descriptor socket) { http->Serve(std::move(socket)); };
  }
  listener->Start(std::move(acceptors));
  return config.web == "off" ? absl::OkStatus() : StartWeb(config);
}

absl::Status Server::State::StartWeb(const NetworkConfig& config) {
  WebPort::Options options;
  SINEW_ASSIGN_OR_RETURN(const HostPort address, ParseHostPort("web", WithHost(config.web)));
  options.host = address.host;
  options.port = address.port;
  if (runtime->access->certificates() != nullptr) {
    SINEW_ASSIGN_OR_RETURN(options.tls,
                           TlsContext::Create([this] { return runtime->access->certificates(); },
                                              [this](const absl::Status& status) {
                                                runtime->log->error(
                                                    "web: new certificates are not used: {}",
                                                    std::string(status.message()));
                                              }));
  }
  SINEW_ASSIGN_OR_RETURN(options.page_folder, WebPort::PageFolder());
  options.hosts = config.web_hosts;
  options.connections = config.web_connections;
  options.last_words = kLastWords;
  SINEW_ASSIGN_OR_RETURN(options.upstream.channel, InProcessChannel(kWebAgent));
  options.upstream.context = [](const WebCaller& caller) {
    auto context = std::make_unique<grpc::ClientContext>();
    context->AddMetadata("x-forwarded-for", caller.forwarded);
    if (!caller.authorization.empty()) context->AddMetadata("authorization", caller.authorization);
    return context;
  };
  absl::StatusOr<std::unique_ptr<WebPort>> started = WebPort::Start(std::move(options));
  if (!started.ok()) {
    return {started.status().code(), absl::StrCat("web: ", started.status().message())};
  }
  web = *std::move(started);
  web_address = AddressText({.host = address.host, .port = web->port()});
  return absl::OkStatus();
}

void Server::State::StartTimers() {
  sweep_ = runtime->timers.Every(kSweep, [this] { listener->ForgetClosed(); });
  heartbeat_ = runtime->timers.Every(
      kHeartbeat, [&streams = runtime->streams, channel = server->InProcessChannel({})] {
        if (streams.count() > 0) CheckHealth(channel, kBeat, [](const absl::Status&) {});
      });
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Server::State::InProcessChannel(
    const char* agent) const {
  // Not grpc::Server::InProcessChannel: in gRPC 1.51 a write through it may wait for ever if the
  // call ends meanwhile, as an upload does whose rig is stored already.
  SINEW_ASSIGN_OR_RETURN(const std::string address, listener->OwnAddress());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);
  if (*agent != 0) arguments.SetUserAgentPrefix(agent);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // $http_proxy is for other machines
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void Server::State::AddReadings() {
  Metrics& metrics = runtime->metrics;
  metrics.AddCounter("sinew_connections_refused_total",
                     "Connections closed at once because a limit was reached",
                     [this] { return static_cast<double>(listener->refused()); });
  // Read once for all of them, with the first.
  const auto stats = std::make_shared<ProcessStats>();
  const auto process = [stats](auto member) {
    return [stats, member] { return static_cast<double>((*stats).*member); };
  };
  metrics.AddGauge("process_open_fds", "Open file descriptors", [stats] {
    *stats = ReadProcessStats();
    return static_cast<double>(stats->open_files);
  });
  metrics.AddGauge("process_max_fds", "Limit of open file descriptors",
                   process(&ProcessStats::max_files));
  metrics.AddGauge("process_resident_memory_bytes", "Resident memory",
                   process(&ProcessStats::resident_bytes));
  metrics.AddGauge("process_virtual_memory_bytes", "Virtual memory",
                   process(&ProcessStats::virtual_bytes));
  metrics.AddGauge("sinew_heap_bytes",
                   "Allocated memory, without what the allocator keeps for later",
                   process(&ProcessStats::heap_bytes));
  metrics.AddGauge("process_start_time_seconds", "Start of the process since 1970",
                   process(&ProcessStats::start_seconds));
  metrics.AddCounter("process_cpu_seconds_total", "Processor time, user and system",
                     process(&ProcessStats::cpu_seconds));
  if (const std::string& folder = runtime->config.rigs.data_dir; !folder.empty()) {
    metrics.AddGauge("sinew_disk_free_bytes", "Free space under data-dir",
                     [folder] { return static_cast<double>(FreeBytes(folder)); });
  }
}

void Server::State::Stop() {
  const absl::MutexLock lock(&stopping_);
  if (listener != nullptr) listener->Stop();
  http.reset();
  if (server != nullptr) {
    runtime->timers.Cancel(heartbeat_);  // the server waits for its in-process channels
    runtime->timers.Cancel(sweep_);
    runtime->work.Close();
    runtime->EndCalls();
    web.reset();
    server->Shutdown(std::chrono::system_clock::now() + kLastWords);
    server->Wait();
  }
  // Services receive calls, and need the runtime, until the server is destroyed.
  server.reset();
  credentials_.reset();
  if (runtime != nullptr) runtime->timers.Stop();  // one of them uses the listener
  listener.reset();
  runtime.reset();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config, Clock& clock) {
  SINEW_ASSIGN_OR_RETURN(auto state, State::Start(config, clock));
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  Stop();
}

const std::vector<std::string>& Server::addresses() const {
  return state_->addresses;
}

const std::string& Server::http_address() const {
  return state_->http_address;
}

const std::string& Server::web_address() const {
  return state_->web_address;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Server::InProcessChannel() {
  return state_->InProcessChannel();
}

void Server::Reload(absl::StatusOr<Config> config) {
  Runtime& runtime = *state_->runtime;
  absl::Status status = config.status();
  if (status.ok()) status = config->FitTo(ReadMachine());
  if (status.ok()) {
    runtime.Reload(*std::move(config));
  } else {
    runtime.log->error("configuration not changed: {}", std::string(status.message()));
  }
  runtime.access->ReloadAll();
}

void Server::Drain() {
  if (state_->runtime->work.closed()) return;
  state_->runtime->Drain();
}

bool Server::WaitDrained(std::chrono::milliseconds timeout) {
  return state_->runtime->work.WaitEmpty(timeout);
}

void Server::Stop() {
  state_->Stop();
}

}  // namespace sinew::server
