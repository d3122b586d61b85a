#include "tests/unit/client/lib/fake_server.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <numeric>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace sinew::client {
namespace {

constexpr int kPage = 2;

class FakeRigService : public v1::RigService::Service {
 public:
  explicit FakeRigService(FakeServer& server) : server_(server) {}

  grpc::Status UploadRig(grpc::ServerContext*, grpc::ServerReader<v1::UploadRigRequest>* reader,
                         v1::UploadRigResponse* response) override {
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    v1::UploadRigRequest request;
    if (!reader->Read(&request)) return {grpc::INVALID_ARGUMENT, "header: got none"};
    const v1::UploadHeader header = request.header();
    const std::string name = absl::StrCat("rigs/sha256-", header.sha256());
    std::size_t got = 0;
    do {
      const std::lock_guard lock(server_.mutex);
      std::string& bytes = server_.partial[header.sha256()];
      if (!request.data().empty()) {
        if (request.offset() != bytes.size()) return {grpc::INVALID_ARGUMENT, "offset"};
        bytes += request.data();
        got += request.data().size();
        server_.counts.uploaded_bytes += request.data().size();
        if (server_.faults.upload_breaks_after > 0 && got >= server_.faults.upload_breaks_after) {
          server_.faults.upload_breaks_after = 0;
          return {grpc::UNAVAILABLE, "broken off"};
        }
      }
    } while (reader->Read(&request));
    const std::lock_guard lock(server_.mutex);
    std::string& bytes = server_.partial[header.sha256()];
    if (bytes.size() == header.size_bytes()) server_.rigs[name] = std::exchange(bytes, {});
    response->set_committed_bytes(bytes.size());
    if (server_.rigs.contains(name)) *response->mutable_rig() = Summary(name);
    return grpc::Status::OK;
  }

  grpc::Status GetRig(grpc::ServerContext*, const v1::GetRigRequest* request,
                      v1::GetRigResponse* response) override {
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    const std::lock_guard lock(server_.mutex);
    if (!server_.rigs.contains(request->name())) return {grpc::NOT_FOUND, request->name()};
    *response->mutable_rig() = Summary(request->name());
    return grpc::Status::OK;
  }

  grpc::Status DownloadRig(grpc::ServerContext*, const v1::DownloadRigRequest* request,
                           grpc::ServerWriter<v1::DownloadRigResponse>* writer) override {
    std::string bytes;
    {
      const std::lock_guard lock(server_.mutex);
      if (!server_.rigs.contains(request->name())) return {grpc::NOT_FOUND, request->name()};
      bytes = server_.rigs[request->name()];
      if (server_.faults.download_lies) bytes[bytes.size() / 2] ^= 1;
    }
    for (std::size_t offset = request->offset(); offset < bytes.size(); offset += 100) {
      if (offset > 0 && request->offset() == 0) {
        if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
      }
      v1::DownloadRigResponse piece;
      piece.set_offset(offset);
      piece.set_data(bytes.substr(offset, 100));
      piece.set_size_bytes(bytes.size());
      writer->Write(piece);
    }
    return grpc::Status::OK;
  }

  grpc::Status ListRigs(grpc::ServerContext*, const v1::ListRigsRequest* request,
                        v1::ListRigsResponse* response) override {
    const std::lock_guard lock(server_.mutex);
    auto rig = server_.rigs.upper_bound(request->page_token());
    for (; rig != server_.rigs.end() && response->rigs_size() < kPage; ++rig) {
      *response->add_rigs() = Summary(rig->first);
      response->set_next_page_token(rig->first);
    }
    if (rig == server_.rigs.end()) response->clear_next_page_token();
    return grpc::Status::OK;
  }

  grpc::Status DeleteRig(grpc::ServerContext*, const v1::DeleteRigRequest* request,
                         v1::DeleteRigResponse*) override {
    // The work is done before the answer is lost.
    std::size_t erased;
    {
      const std::lock_guard lock(server_.mutex);
      erased = server_.rigs.erase(request->name());
    }
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    return erased > 0 ? grpc::Status::OK : grpc::Status(grpc::NOT_FOUND, request->name());
  }

  grpc::Status ComputeWeights(grpc::ServerContext* context,
                              const v1::ComputeWeightsRequest* request,
                              grpc::ServerWriter<v1::ComputeWeightsResponse>* writer) override {
    std::optional<grpc::Status> fault;
    {
      const std::lock_guard lock(server_.mutex);
      server_.counts.weights_requests.push_back(*request);
      if (!server_.rigs.contains(request->rig())) return {grpc::NOT_FOUND, request->rig()};
      fault = std::exchange(server_.faults.break_weights, std::nullopt);
    }
    v1::ComputeWeightsResponse response;
    writer->Write(response);
    if (fault) return *fault;
    response.set_progress(0.5f);
    if (!writer->Write(response) || context->IsCancelled()) return grpc::Status::CANCELLED;
    response.set_progress(1);
    *response.mutable_rig() = Summary(request->rig() + "+weights");
    response.mutable_report()->set_unseen_count(3);
    for (const std::uint64_t vertex : {4, 7})
      response.mutable_report()->add_unseen_vertices(vertex);
    response.mutable_report()->add_idle_joints(1);
    response.mutable_report()->add_warnings()->set_message("a warning");
    writer->Write(response);
    return grpc::Status::OK;
  }

  grpc::Status FitSkeleton(grpc::ServerContext* /*context*/, const v1::FitSkeletonRequest* request,
                           grpc::ServerWriter<v1::FitSkeletonResponse>* writer) override {
    std::optional<grpc::Status> fault;
    {
      const std::lock_guard lock(server_.mutex);
      server_.counts.fit_requests.push_back(*request);
      if (!server_.rigs.contains(request->rig())) return {grpc::NOT_FOUND, request->rig()};
      fault = std::exchange(server_.faults.break_weights, std::nullopt);
    }
    v1::FitSkeletonResponse response;
    writer->Write(response);
    if (fault) return *fault;
    response.set_progress(1);
    *response.mutable_rig() = Summary(request->rig() + "+skeleton");
    const auto face = [](v1::FitFacing& facing, float residual, float z) {
      facing.set_residual(residual);
      for (const float up : {0.0f, 1.0f, 0.0f}) facing.add_up(up);
      for (const float forward : {0.0f, 0.0f, z}) facing.add_forward(forward);
    };
    face(*response.mutable_report()->mutable_facing(), 0.25f, 1);
    face(*response.mutable_report()->mutable_other(), 0.5f, -1);
    response.mutable_report()->add_warnings()->set_message("a warning");
    writer->Write(response);
    return grpc::Status::OK;
  }

 private:
  v1::RigSummary Summary(const std::string& name) const {
    v1::RigSummary summary;
    summary.set_name(name);
    summary.set_vertices(kFakeVertices);
    return summary;
  }

  FakeServer& server_;
};

class FakeSessionService : public v1::SessionService::Service {
 public:
  explicit FakeSessionService(FakeServer& server) : server_(server) {}

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest* request,
                             v1::CreateSessionResponse* response) override {
    {
      const std::lock_guard lock(server_.mutex);
      ++server_.counts.creates;
      if (!server_.rigs.contains(request->source().rig())) {
        return {grpc::NOT_FOUND, request->source().rig()};
      }
      const std::string& demanded = request->source().determinism_digest();
      if (!demanded.empty() && demanded != server_.determinism_digest) {
        return {grpc::FAILED_PRECONDITION, "determinism_digest"};
      }
      std::string& name = server_.requests[request->request_id()];
      if (name.empty()) {
        name = absl::StrCat("sessions/", ++server_.counts.sessions_made);
        v1::Session& session = server_.sessions[name];
        session.set_name(name);
        session.set_determinism_digest(server_.determinism_digest);
        session.set_state(v1::Session::STATE_BINDING);
        *session.mutable_source() = request->source();
      }
      *response->mutable_session() = server_.sessions[name];
    }
    return TakeFault(server_);
  }

  grpc::Status WatchSession(grpc::ServerContext*, const v1::WatchSessionRequest* request,
                            grpc::ServerWriter<v1::WatchSessionResponse>* writer) override {
    v1::WatchSessionResponse reply;
    {
      const std::lock_guard lock(server_.mutex);
      const bool elsewhere = server_.faults.unknown_sessions > 0;
      if (elsewhere) --server_.faults.unknown_sessions;
      if (elsewhere || !server_.sessions.contains(request->name())) {
        return {grpc::NOT_FOUND, request->name()};
      }
      *reply.mutable_session() = server_.sessions[request->name()];
    }
    writer->Write(reply);
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    const std::lock_guard lock(server_.mutex);
    v1::Session& session = server_.sessions[request->name()];
    if (session.source().recipe_text() == "never") {
      session.set_state(v1::Session::STATE_FAILED);
      session.mutable_problem()->set_code(8);
      session.mutable_problem()->set_reason(v1::REASON_LIMIT);
      session.mutable_problem()->set_message("bind: too large");
    } else {
      session.set_state(v1::Session::STATE_READY);
    }
    *reply.mutable_session() = session;
    writer->Write(reply);
    return grpc::Status::OK;
  }

  grpc::Status DeleteSession(grpc::ServerContext*, const v1::DeleteSessionRequest* request,
                             v1::DeleteSessionResponse*) override {
    const std::lock_guard lock(server_.mutex);
    return server_.sessions.erase(request->name()) > 0
               ? grpc::Status::OK
               : grpc::Status(grpc::NOT_FOUND, request->name());
  }

 private:
  FakeServer& server_;
};

class FakeInfoService : public v1::InfoService::Service {
 public:
  explicit FakeInfoService(FakeServer& server) : server_(server) {}

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse* response) override {
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    const auto key = context->client_metadata().find("x-sinew-test");
    if (key != context->client_metadata().end()) {
      response->set_version({key->second.data(), key->second.size()});
    }
    return grpc::Status::OK;
  }

  grpc::Status ListMethods(grpc::ServerContext* context, const v1::ListMethodsRequest*,
                           v1::ListMethodsResponse*) override {
    // Hangs until the caller gives up.
    while (!context->IsCancelled()) absl::SleepFor(absl::Milliseconds(2));
    return {grpc::CANCELLED, "given up"};
  }

 private:
  FakeServer& server_;
};

// Records the traceparent of one call.
class TraceReader : public grpc::experimental::Interceptor {
 public:
  TraceReader(FakeServer& server, const std::string& path)
      : server_(server), method_(path.substr(path.rfind('/') + 1)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      const auto& metadata = *methods->GetRecvInitialMetadata();
      const auto found = metadata.find("traceparent");
      const std::lock_guard lock(server_.mutex);
      server_.counts.traceparents[method_].push_back(
          found == metadata.end() ? "" : std::string(found->second.data(), found->second.size()));
    }
    methods->Proceed();
  }

 private:
  FakeServer& server_;
  const std::string method_;
};

class TraceReaders : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit TraceReaders(FakeServer& server) : server_(server) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new TraceReader(server_, info->method());
  }

 private:
  FakeServer& server_;
};

}  // namespace

std::vector<float> ExpectedPositions(float pose) {
  std::vector<float> positions(kFakeVertices * 3);
  std::iota(positions.begin(), positions.end(), pose);
  return positions;
}

grpc::Status TakeFault(FakeServer& server) {
  const std::lock_guard lock(server.mutex);
  ++server.counts.calls;
  if (server.faults.calls_before_fault > 0) {
    --server.faults.calls_before_fault;
    return grpc::Status::OK;
  }
  return std::exchange(server.faults.fail_next_call, std::nullopt).value_or(grpc::Status::OK);
}

grpc::Status Refused(std::optional<std::chrono::milliseconds> wait) {
  google::rpc::Status details;
  if (wait) {
    google::rpc::RetryInfo info;
    info.mutable_retry_delay()->set_nanos(static_cast<std::int32_t>(wait->count()) * 1'000'000);
    details.add_details()->PackFrom(info);
  }
  return {grpc::RESOURCE_EXHAUSTED, "full", details.SerializeAsString()};
}

void FakeServer::RefuseStreamFor(std::chrono::milliseconds time, bool after_break) {
  counts.streams = 0;
  faults.refuse_stream = Refused(time);
  faults.streams_before_refusal = after_break ? 1 : 0;
  if (after_break) faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  faults.break_after_frames = 7;
}

void FakeServer::BreakStreams() {
  const std::lock_guard lock(mutex);
  for (grpc::ServerContext* stream : streams) stream->TryCancel();
}

FakeServer::FakeServer() {
  services_.push_back(std::make_unique<FakeRigService>(*this));
  services_.push_back(std::make_unique<FakeSessionService>(*this));
  services_.push_back(std::make_unique<FakeInfoService>(*this));
  services_.push_back(MakeFakeDeformService(*this));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  for (const auto& service : services_) builder.RegisterService(service.get());
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> readers;
  readers.push_back(std::make_unique<TraceReaders>(*this));
  builder.experimental().SetInterceptorCreators(std::move(readers));
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

FakeServer::~FakeServer() {
  stops_reading = false;  // a test that failed may have left it
  server_->Shutdown(std::chrono::system_clock::now());
}

ClientOptions FakeServer::Options() const {
  ClientOptions options;
  options.address = address_;
  options.deadline = absl::Seconds(20);
  options.retry.initial_backoff = absl::Milliseconds(5);
  options.retry.max_backoff = absl::Milliseconds(20);
  options.retry.resume_for = absl::Seconds(5);
  return options;
}

}  // namespace sinew::client
