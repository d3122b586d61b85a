#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/base/config_options.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class InfoTest : public ServerTest {
 protected:
  // A unary call by name with raw bytes.
  grpc::Status Call(const std::string& method, const std::string& request, std::string& response) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::Slice slice(request);
    const grpc::ByteBuffer bytes(&slice, 1);
    auto call = stub.PrepareUnaryCall(&context, method, bytes, &queue);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    std::vector<grpc::Slice> slices;
    answer.Dump(&slices);
    response.clear();
    for (const grpc::Slice& part : slices) {
      response.append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
    return status;
  }
  HttpReply Get(const std::string& path) { return HttpGet(server().http_address(), path); }
};

TEST_F(InfoTest, DescribesServer) {
  config.compute.threads = 2;
  Start();
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_CODE(stubs().info->GetServerInfo(&context, {}, &info), StatusCode::OK);
  EXPECT_FALSE(info.version().empty());
  EXPECT_FALSE(info.simd().empty());
  EXPECT_EQ(info.threads(), 2u);
  const std::vector<int> encodings(info.encodings().begin(), info.encodings().end());
  EXPECT_EQ(encodings, (std::vector<int>{v1::ENCODING_FLOAT32, v1::ENCODING_Q16}));
  const std::vector<int> compressions(info.compressions().begin(), info.compressions().end());
  EXPECT_EQ(compressions, (std::vector<int>{v1::COMPRESSION_NONE, v1::COMPRESSION_ZSTD}));
  const std::vector<int> of_normals(info.normal_encodings().begin(), info.normal_encodings().end());
  EXPECT_EQ(of_normals,
            (std::vector<int>{v1::ENCODING_FLOAT32, v1::ENCODING_OCT8, v1::ENCODING_OCT16}));
}

TEST_F(InfoTest, ListsEveryLimit) {
  Start();
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_CODE(stubs().info->GetServerInfo(&context, {}, &info), StatusCode::OK);
  std::map<std::string, v1::Limit> listed;
  for (const v1::Limit& limit : info.limits()) listed[limit.name()] = limit;
  EXPECT_EQ(listed.size(), static_cast<std::size_t>(info.limits_size())) << "each once";
  std::size_t limits = 0;
  ASSERT_TRUE(config.FitTo(server::ReadMachine()).ok());
  server::VisitOptions(config, [&](const server::Option& option, const auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_arithmetic_v<Member>) {
      if (!option.limit) return;
      ++limits;
      const std::string name(option.name);
      const auto value = static_cast<double>(member);
      ASSERT_TRUE(listed.contains(name)) << name;
      const v1::Limit& limit = listed[name];
      EXPECT_EQ(static_cast<double>(limit.value()), std::ceil(value)) << name;
      EXPECT_EQ(limit.unit(), std::string(option.unit)) << name;
      EXPECT_EQ(limit.description(), std::string(option.help)) << name;
    }
  });
  EXPECT_EQ(limits, listed.size());
}

TEST_F(InfoTest, ListsMethodsInPagesWithParameters) {
  Start();
  std::set<std::string> names, presets;
  v1::ListMethodsRequest request;
  request.set_page_size(1);
  do {
    grpc::ClientContext context;
    v1::ListMethodsResponse page;
    ASSERT_TRUE(stubs().info->ListMethods(&context, request, &page).ok());
    ASSERT_EQ(page.methods_size(), 1);
    EXPECT_TRUE(names.insert(page.methods(0).name()).second);
    EXPECT_FALSE(page.methods(0).summary().empty());
    EXPECT_NE(page.methods(0).example().find(page.methods(0).name()), std::string::npos);
    EXPECT_EQ(page.presets_size() > 0, request.page_token().empty());
    for (const v1::Preset& preset : page.presets()) presets.insert(preset.name());
    for (const v1::Parameter& parameter : page.methods(0).parameters()) {
      EXPECT_FALSE(parameter.description().empty()) << parameter.name();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(names.count("lbs"), 1u);
  EXPECT_EQ(names.count("dqs"), 1u);
  EXPECT_EQ(presets.count("bulge_free_dqs"), 1u);
  request.set_page_token("nonsense");
  grpc::ClientContext context;
  v1::ListMethodsResponse page;
  EXPECT_EQ(FieldOf(stubs().info->ListMethods(&context, request, &page)), "page_token");
}

TEST_F(InfoTest, EveryMethodNamesMalformedRequestAndCountsIt) {
  Start();
  for (const char* name : {"RigService", "SessionService", "DeformService", "InfoService"}) {
    const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
        std::string("sinew.v1.") + name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string method = service->full_name() + "/" + service->method(i)->name();
      std::string response;
      const grpc::Status status = Call("/" + method, "\xff\xff\xff", response);
      EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << method;
      EXPECT_EQ(status.error_message(),
                "request: the bytes are not a " + service->method(i)->input_type()->name());
      EXPECT_EQ(FieldOf(status), "request");
      const std::string counted = "{code=\"INVALID_ARGUMENT\",method=\"" + method + "\"} 1";
      EXPECT_NE(Get("/metrics").body.find(counted), std::string::npos) << counted;
    }
  }
}

// grpc.health.v1: HealthCheckRequest{string service = 1}, HealthCheckResponse{status = 1}; 1
// SERVING, 2 NOT_SERVING.
TEST_F(InfoTest, ServesHealthPerServiceAndOverall) {
  Start();
  std::string response;
  const std::string method = "/grpc.health.v1.Health/Check";
  const auto ask = [&](const std::string& service) {
    std::string request;
    if (!service.empty())
      request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    EXPECT_CODE(Call(method, request, response), StatusCode::OK);
    return response;
  };
  for (const char* service : {"", "sinew.v1.RigService", "sinew.v1.SessionService",
                              "sinew.v1.DeformService", "sinew.v1.InfoService"}) {
    EXPECT_EQ(ask(service), std::string("\x08\x01")) << service;
  }
  EXPECT_CODE(Call(method, "\x0a\x04none", response), StatusCode::NOT_FOUND);
  server().Drain();
  EXPECT_EQ(ask(""), std::string("\x08\x02"));
  EXPECT_EQ(ask("sinew.v1.DeformService"), std::string("\x08\x02"));
}

TEST_F(InfoTest, HealthWatchReportsTheDrain) {
  Start();
  const auto stub = grpc::health::v1::Health::NewStub(channel_);
  const auto watch = [&](const std::string& service, grpc::ClientContext& context) {
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    return stub->Watch(&context, request);
  };
  using Response = grpc::health::v1::HealthCheckResponse;
  Response response;
  grpc::ClientContext known, unknown;
  const auto all = watch("", known), none = watch("none", unknown);
  ASSERT_TRUE(none->Read(&response));
  EXPECT_EQ(response.status(), Response::SERVICE_UNKNOWN);
  ASSERT_TRUE(all->Read(&response));
  EXPECT_EQ(response.status(), Response::SERVING);
  server().Drain();
  ASSERT_TRUE(all->Read(&response));
  EXPECT_EQ(response.status(), Response::NOT_SERVING);
  known.TryCancel();
  EXPECT_CODE(all->Finish(), StatusCode::CANCELLED);
}

// grpc.reflection.v1alpha: ServerReflectionRequest{string list_services = 7}.
TEST_F(InfoTest, ReflectionListsServices) {
  Start();
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  const grpc::Slice slice(std::string("\x3a\x01*"));
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  queue.Next(&tag, &ok);
  ASSERT_TRUE(ok);
  std::vector<grpc::Slice> slices;
  answer.Dump(&slices);
  std::string bytes;
  for (const grpc::Slice& part : slices) {
    bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  for (const char* service :
       {"sinew.v1.RigService", "sinew.v1.DeformService", "grpc.health.v1.Health"}) {
    EXPECT_NE(bytes.find(service), std::string::npos) << service;
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
}

TEST_F(InfoTest, ServesChannelzIfEnabled) {
  config.network.channelz = true;
  Start();
  std::string response;
  EXPECT_CODE(Call("/grpc.channelz.v1.Channelz/GetServers", "", response), StatusCode::OK);
}

TEST_F(InfoTest, HttpPortServesProbesAndMetrics) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::DeformRequest request;
  *request.mutable_target() = OpenRecipe(rig, "lbs").target();
  *request.mutable_pose() = TubePose(1);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_EQ(Get("/readyz").body, "ok\n");
  EXPECT_NE(Get("/readyz?verbose").body.find("[+]serving ok"), std::string::npos);
  EXPECT_EQ(Get("/nothing").status, 404);
  const std::string metrics = Get("/metrics").body;
  for (const char* line :
       {"sinew_frames_total 1\n", "sinew_rigs 1\n", "sinew_sessions 1\n",
        "sinew_binds_total{outcome=\"bound\"} 1\n", "sinew_build_info{",
        "sinew_rpc_seconds_count{method=\"sinew.v1.DeformService/Deform\"} 1\n",
        "sinew_rpcs_total{code=\"OK\",method=\"sinew.v1.DeformService/Deform\"} 1\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << metrics;
  }
  server().Drain();
  EXPECT_EQ(Get("/readyz").status, 503);
  EXPECT_EQ(Get("/livez").status, 200);
}

TEST_F(InfoTest, MetricsHaveLimitsOfStores) {
  Start();
  const std::string rig = stubs().UploadTube(), session = stubs().Create(rig, "lbs").name();
  stubs().Watch(session);
  grpc::ClientContext context, asking, deleting;
  v1::UploadRigRequest half;
  half.mutable_header()->set_sha256(std::string(64, '0'));
  half.mutable_header()->set_size_bytes(1000);
  half.set_data("x");
  v1::UploadRigResponse uploaded;
  const auto upload = stubs().rigs->UploadRig(&context, &uploaded);
  EXPECT_TRUE(upload->Write(half));
  const auto metric = [&](const std::string& name, const std::string& limit) {
    return MetricOf(server().http_address(), name + "{limit=\"" + limit + "\"}");
  };
  const auto used = [&](const std::string& limit) {
    return std::stoull(metric("sinew_limit_used", limit));
  };
  WaitUntil([&] { return used("max-uploads") == 1; });
  EXPECT_EQ(used("max-upload-bytes"), 1000u);
  EXPECT_EQ(used("max-rigs"), 1u);
  EXPECT_EQ(used("max-stored-bytes"), TubeRig().ByteSizeLong());
  EXPECT_EQ(used("max-sessions"), 1u);
  EXPECT_EQ(used("max-queued-binds"), 0u);
  EXPECT_GT(used("max-bound-bytes"), 0u);
  EXPECT_EQ(used("max-bound-bytes"), stubs().Stats().bound_bytes());
  v1::GetServerInfoResponse info;
  EXPECT_CODE(stubs().info->GetServerInfo(&asking, {}, &info), StatusCode::OK);
  int compared = 0;
  for (const v1::Limit& limit : info.limits()) {
    const std::string value = metric("sinew_limit", limit.name());
    if (value.empty()) continue;  // of one request
    EXPECT_EQ(std::stod(value), static_cast<double>(limit.value())) << limit.name();
    ++compared;
  }
  EXPECT_EQ(compared, 21);
  // Bound data without a use gives way to new binds.
  v1::DeleteSessionRequest ending;
  ending.set_name(session);
  v1::DeleteSessionResponse ended;
  EXPECT_CODE(stubs().sessions->DeleteSession(&deleting, ending, &ended), StatusCode::OK);
  EXPECT_EQ(used("max-bound-bytes"), 0u);
  EXPECT_GT(stubs().Stats().bound_bytes(), 0u);
  context.TryCancel();
  upload->Finish();
}

TEST_F(InfoTest, TwoServersCannotShareAddress) {
  Start();
  server::Config second;
  second.log.level = "off";
  second.network.listen = server().addresses();
  EXPECT_EQ(server::Server::Start(second).status().code(), absl::StatusCode::kUnavailable);
  second.network.listen = {"127.0.0.1:0"};
  second.network.http = server().http_address();
  EXPECT_EQ(server::Server::Start(second).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sinew::testing
