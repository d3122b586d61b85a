// Limits on what clients hold at a time: the last one within the limit is admitted, one more is
// refused, says when to try again, and is admitted once a place is free. The same with a share for
// each client.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/limit_refusal.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;
using server::Config;

// A call with one request and a stream of replies, cancelled at the end.
template <class Response>
struct OpenReader {
  ~OpenReader() {
    context.TryCancel();
    ReadToEnd(*reader);
  }
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<Response>> reader;
};

class ConcurrentLimits : public RefusalTest {
 protected:
  // Gives back when it is destroyed.
  using Held = std::shared_ptr<void>;
  struct Limit {
    std::string name;
    std::function<std::uint64_t&(Config&)> value;
    // Takes one place, the k-th; returns at once.
    std::function<Held(int k)> hold;
    // Asks for one place, and does not keep it for long if it is admitted.
    std::function<grpc::Status(Stubs& client)> ask;
    std::function<void()> prepare = [] {};
  };

  void ExpectExact(const Limit& limit) {
    for (const bool shared : {false, true}) {
      SCOPED_TRACE(shared ? "half of it for each client" : "all of it for one client");
      config.access.client_share = shared ? 0.5 : 1;
      limit.value(config) = shared ? 4 : 2;
      Start();
      rig_ = stubs().UploadTube();
      session_ = stubs().Create(rig_, "lbs").name();
      stubs().Watch(session_);
      EXPECT_EQ(Listed(limit.name), shared ? 4u : 2u);
      limit.prepare();
      const std::uint64_t before = Used(limit.name);
      std::vector<Held> held;
      for (std::uint64_t k = before; k < 2; ++k) {
        held.push_back(limit.hold(static_cast<int>(k)));
        WaitForUse(limit.name, k + 1);
      }
      EXPECT_REFUSAL(limit.ask(stubs()), RefusedForNow(limit.name));
      EXPECT_EQ(Used(limit.name), 2u);
      if (shared) {
        Stubs other(server().InProcessChannel().value());  // without a share
        const grpc::Status asked = limit.ask(other);
        EXPECT_NE(asked.error_code(), StatusCode::RESOURCE_EXHAUSTED) << asked.error_message();
      }
      held.pop_back();
      grpc::Status admitted;
      WaitUntil([&] {
        admitted = limit.ask(stubs());
        return admitted.error_code() != StatusCode::RESOURCE_EXHAUSTED;
      });
      EXPECT_TRUE(admitted.ok() || admitted.error_code() == StatusCode::DEADLINE_EXCEEDED)
          << admitted.error_message();
      held.clear();
    }
  }

  // A session whose bind takes seconds.
  void BindSlowly() {
    slow_ = stubs().Create(stubs().UploadTube(kSlowTube), kSlowRecipe).name();
    stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  }
  v1::DeformRequest DeformOf(const std::string& session) {
    v1::DeformRequest request;
    request.mutable_target()->set_session(session);
    *request.mutable_pose() = TubePose(1);
    return request;
  }
  v1::CompareDeformersRequest CompareOf(const std::string& session) {
    v1::CompareDeformersRequest request;
    request.add_targets()->set_session(session);
    *request.mutable_poses()->add_poses() = TubePose(1);
    return request;
  }
  static std::string NthRig(int k) {
    return TubeRig({.rings = 20 + static_cast<std::uint32_t>(k)}).SerializeAsString();
  }
  grpc::Status Download(Stubs& client) {
    grpc::ClientContext context;
    v1::DownloadRigRequest request;
    request.set_name(rig_);
    return ReadToEnd(*client.rigs->DownloadRig(&context, request));
  }
  // A session that is deleted at once.
  grpc::Status CreateBriefly(Stubs& client, const std::string& recipe_text) {
    v1::Session session;
    const grpc::Status created = client.Create(CreateRequest(rig_, recipe_text), session);
    if (created.ok()) EXPECT_CODE(client.DeleteSession(session.name()), StatusCode::OK);
    return created;
  }
  // A rig that is deleted at once.
  grpc::Status StoreBriefly(Stubs& client) {
    std::string name;
    const grpc::Status stored = client.Upload(NthRig(9), &name);
    if (stored.ok()) EXPECT_CODE(client.DeleteRig(name), StatusCode::OK);
    return stored;
  }
  // An estimate that takes seconds; its client waits a little.
  grpc::Status EstimateBriefly(Stubs& client, const std::string& rig) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
    v1::CreateSessionRequest request = CreateRequest(rig, SlowEstimate(90));
    request.set_validate_only(true);
    v1::CreateSessionResponse response;
    return client.sessions->CreateSession(&context, request, &response);
  }

  std::string rig_, session_;  // quick, of a small tube
  std::string slow_;
};

TEST_F(ConcurrentLimits, Sessions) {
  ExpectExact({.name = "max-sessions",
               .value = [](Config& c) -> std::uint64_t& { return c.sessions.count; },
               .hold = [&](int) -> Held {
                 return {new std::string(stubs().Create(rig_, "lbs").name()),
                         [&](std::string* name) {
                           EXPECT_CODE(stubs().DeleteSession(*name), StatusCode::OK);
                           delete name;
                         }};
               },
               .ask = [&](Stubs& client) { return CreateBriefly(client, "lbs"); }});
}

TEST_F(ConcurrentLimits, Streams) {
  ExpectExact(
      {.name = "max-streams",
       .value = [](Config& c) -> std::uint64_t& { return c.streams.count; },
       .hold = [&](int) -> Held { return std::make_shared<Stream>(stubs(), OpenFor(session_)); },
       .ask =
           [&](Stubs& client) {
             Stream stream(client, OpenFor(session_));
             stream.HalfClose();
             return stream.Finish();
           }});
}

TEST_F(ConcurrentLimits, DeformCalls) {
  ExpectExact({.name = "max-deforms",
               .value = [](Config& c) -> std::uint64_t& { return c.compute.deforms; },
               .hold = [&](int) -> Held {
                 auto calls = std::make_shared<Calls>(stubs());
                 calls->Deform(slow_, TubePose(1, 0, kSlowTube));
                 return calls;
               },
               .ask =
                   [&](Stubs& client) {
                     v1::DeformResponse response;
                     return client.Deform(DeformOf(session_), response);
                   },
               .prepare = [&] { BindSlowly(); }});
}

// Deform and DeformClip share their places.
TEST_F(ConcurrentLimits, DeformClipCalls) {
  ExpectExact({.name = "max-deforms",
               .value = [](Config& c) -> std::uint64_t& { return c.compute.deforms; },
               .hold = [&](int) -> Held {
                 v1::DeformClipRequest request;
                 request.mutable_target()->set_session(slow_);
                 *request.mutable_poses()->add_poses() = TubePose(1, 0, kSlowTube);
                 auto call = std::make_shared<OpenReader<v1::DeformClipResponse>>();
                 call->reader = stubs().deforms->DeformClip(&call->context, request);
                 return call;
               },
               .ask =
                   [&](Stubs& client) {
                     v1::DeformClipRequest request;
                     request.mutable_target()->set_session(session_);
                     *request.mutable_poses()->add_poses() = TubePose(1);
                     grpc::ClientContext context;
                     return ReadToEnd(*client.deforms->DeformClip(&context, request));
                   },
               .prepare = [&] { BindSlowly(); }});
}

TEST_F(ConcurrentLimits, Comparisons) {
  ExpectExact({.name = "max-compares",
               .value = [](Config& c) -> std::uint64_t& { return c.compare.count; },
               .hold = [&](int) -> Held {
                 auto call = std::make_shared<OpenReader<v1::CompareDeformersResponse>>();
                 call->reader = stubs().deforms->CompareDeformers(&call->context, CompareOf(slow_));
                 return call;
               },
               .ask =
                   [&](Stubs& client) {
                     grpc::ClientContext context;
                     return ReadToEnd(
                         *client.deforms->CompareDeformers(&context, CompareOf(session_)));
                   },
               .prepare = [&] { BindSlowly(); }});
}

TEST_F(ConcurrentLimits, Watches) {
  ExpectExact({.name = "max-watches",
               .value = [](Config& c) -> std::uint64_t& { return c.sessions.watches; },
               .hold = [&](int) -> Held {
                 v1::WatchSessionRequest request;
                 request.set_name(slow_);
                 auto call = std::make_shared<OpenReader<v1::WatchSessionResponse>>();
                 call->reader = stubs().sessions->WatchSession(&call->context, request);
                 return call;
               },
               .ask =
                   [&](Stubs& client) {
                     v1::WatchSessionRequest request;
                     request.set_name(session_);
                     grpc::ClientContext context;
                     return ReadToEnd(*client.sessions->WatchSession(&context, request));
                   },
               .prepare = [&] { BindSlowly(); }});
}

TEST_F(ConcurrentLimits, WeightCalls) {
  std::string bare;
  const auto request = [&] {
    v1::ComputeWeightsRequest heat;
    heat.set_rig(bare);
    heat.set_method(v1::WEIGHT_METHOD_HEAT);
    return heat;
  };
  ExpectExact(
      {.name = "max-weight-calls",
       .value = [](Config& c) -> std::uint64_t& { return c.weights.count; },
       .hold = [&](int) -> Held {
         auto call = std::make_shared<OpenReader<v1::ComputeWeightsResponse>>();
         call->reader = stubs().rigs->ComputeWeights(&call->context, request());
         return call;
       },
       .ask =
           [&](Stubs& client) {
             grpc::ClientContext context;
             context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
             return ReadToEnd(*client.rigs->ComputeWeights(&context, request()));
           },
       .prepare =
           [&] {
             v1::Rig rig = TubeRig({.rings = 600, .segments = 100, .joints = 60, .height = 40});
             rig.mutable_meshes(0)->clear_skin();
             EXPECT_CODE(stubs().Upload(rig.SerializeAsString(), &bare), StatusCode::OK);
           }});
}

TEST_F(ConcurrentLimits, UnfinishedUploads) {
  ExpectExact({.name = "max-uploads",
               .value = [](Config& c) -> std::uint64_t& { return c.rigs.uploads; },
               .hold = [&](int k) -> Held {
                 const std::string bytes = NthRig(k);
                 EXPECT_CODE(
                     UploadPart(stubs(), Sha256Hex(bytes), bytes.size(), bytes.substr(0, 9)),
                     StatusCode::OK);
                 return {new std::string(bytes), [&](std::string* rest) {
                           EXPECT_CODE(stubs().Upload(*rest), StatusCode::OK);
                           delete rest;
                         }};
               },
               .ask = [&](Stubs& client) { return StoreBriefly(client); }});
}

TEST_F(ConcurrentLimits, Transfers) {
  struct OpenUpload {
    ~OpenUpload() {
      context.TryCancel();
      writer->Finish();
    }
    grpc::ClientContext context;
    v1::UploadRigResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::UploadRigRequest>> writer;
  };
  ExpectExact({.name = "max-transfers",
               .value = [](Config& c) -> std::uint64_t& { return c.rigs.transfers; },
               .hold = [&](int) -> Held {
                 auto upload = std::make_shared<OpenUpload>();
                 upload->writer = stubs().rigs->UploadRig(&upload->context, &upload->response);
                 return upload;
               },
               .ask =
                   [&](Stubs& client) {
                     const grpc::Status upload = client.Upload(NthRig(0));
                     return upload.ok() ? Download(client) : upload;
                   }});
}

TEST_F(ConcurrentLimits, Downloads) {
  config.rigs.transfers = 1;
  Start();
  rig_ = stubs().UploadTube();
  WaitForUse("max-transfers", 0);
  EXPECT_CODE(Download(stubs()), StatusCode::OK);
  grpc::ClientContext context;
  v1::UploadRigResponse response;
  const auto upload = stubs().rigs->UploadRig(&context, &response);
  WaitForUse("max-transfers", 1);
  EXPECT_REFUSAL(Download(stubs()), RefusedForNow("max-transfers"));
  context.TryCancel();
  upload->Finish();
}

TEST_F(ConcurrentLimits, StoredRigs) {
  ExpectExact({.name = "max-rigs",
               .value = [](Config& c) -> std::uint64_t& { return c.rigs.count; },
               .hold = [&](int k) -> Held {
                 auto name = std::make_unique<std::string>();
                 EXPECT_CODE(stubs().Upload(NthRig(k), name.get()), StatusCode::OK);
                 return {name.release(), [&](std::string* stored) {
                           EXPECT_CODE(stubs().DeleteRig(*stored), StatusCode::OK);
                           delete stored;
                         }};
               },
               .ask = [&](Stubs& client) { return StoreBriefly(client); }});
}

TEST_F(ConcurrentLimits, WaitingBinds) {
  config.binds.short_seconds = 0;  // all binds wait behind the slow one
  ExpectExact({.name = "max-queued-binds",
               .value = [](Config& c) -> std::uint64_t& { return c.binds.queued; },
               .hold = [&](int k) -> Held {
                 const std::string recipe = "dqs(blend=0." + std::to_string(1 + k) + ")";
                 return {new std::string(stubs().Create(rig_, recipe).name()),
                         [&](std::string* name) {
                           EXPECT_CODE(stubs().DeleteSession(*name), StatusCode::OK);
                           delete name;
                         }};
               },
               .ask = [&](Stubs& client) { return CreateBriefly(client, "dqs(blend=0.9)"); },
               .prepare = [&] { BindSlowly(); }});
}

TEST_F(ConcurrentLimits, CallsThatWaitForThread) {
  std::string long_tube;
  std::unique_ptr<Calls> running;
  ExpectExact({.name = "max-waiting-calls",
               .value = [](Config& c) -> std::uint64_t& {
                 // An estimate that ends early must not be refused for what its bind would need.
                 c.binds.memory_bytes = std::uint64_t{1} << 40;
                 return c.compute.waiting;
               },
               .hold = [&](int k) -> Held {
                 auto calls = std::make_shared<Calls>(stubs());
                 calls->Estimate(long_tube, SlowEstimate(k + 1));
                 return calls;
               },
               .ask = [&](Stubs& client) { return EstimateBriefly(client, long_tube); },
               .prepare =
                   [&] {
                     long_tube = stubs().UploadTube(kLongTube);
                     running = std::make_unique<Calls>(stubs());
                     running->Estimate(long_tube, SlowEstimate(0));
                     WaitUntil([&] {
                       return MetricOf(server().http_address(),
                                       "sinew_workers_running{lane=\"estimates\"}") == "1" &&
                              Used("max-waiting-calls") == 0;
                     });
                   }});
}

// A connection too many is closed: nothing could be sent to a client before it has said what it
// speaks.
TEST_F(ConcurrentLimits, Connections) {
  config.network.connections = 2;
  Start();
  EXPECT_EQ(Listed("max-connections"), 2u);
  const auto refused = [&] {
    return MetricOf(server().http_address(), "sinew_connections_refused_total");
  };
  auto second = ConnectBare(server().addresses().front());
  WaitForUse("max-connections", 2);
  EXPECT_EQ(refused(), "0");
  const server::Descriptor third = ConnectBare(server().addresses().front());
  EXPECT_EQ(ReadBare(third, 30'000), "");
  char more = 0;
  EXPECT_LE(::recv(third.fd(), &more, 1, MSG_DONTWAIT), 0) << "closed";
  EXPECT_EQ(refused(), "1");
  EXPECT_EQ(Used("max-connections"), 2u);
  second = server::Descriptor();
  WaitForUse("max-connections", 1);
  const server::Descriptor next = ConnectBare(server().addresses().front());
  WaitForUse("max-connections", 2);
  EXPECT_EQ(refused(), "1");
}

// Another message waits until one has arrived.
TEST_F(ConcurrentLimits, ArrivingMessages) {
  config.network.arriving_messages = 2;
  Start();
  EXPECT_EQ(Listed("max-arriving-messages"), 2u);
  WaitForUse("max-arriving-messages", 0);
  const auto get = [&](std::chrono::milliseconds deadline) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    v1::GetServerInfoResponse response;
    return stubs().info->GetServerInfo(&context, {}, &response);
  };
  grpc::ClientContext contexts[2];
  v1::UploadRigResponse responses[2];
  std::unique_ptr<grpc::ClientWriter<v1::UploadRigRequest>> uploads[2];
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_CODE(get(std::chrono::seconds(30)), StatusCode::OK);
    WaitForUse("max-arriving-messages", k);
    uploads[k] = stubs().rigs->UploadRig(&contexts[k], &responses[k]);
    WaitForUse("max-arriving-messages", k + 1);
  }
  EXPECT_CODE(get(std::chrono::milliseconds(100)), StatusCode::DEADLINE_EXCEEDED);
  contexts[0].TryCancel();
  EXPECT_CODE(get(std::chrono::seconds(30)), StatusCode::OK);
  contexts[1].TryCancel();
  for (const auto& upload : uploads) upload->Finish();
}

}  // namespace
}  // namespace sinew::testing
