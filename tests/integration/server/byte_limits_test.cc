// Limits on bytes that clients hold together, and on how long what they hold is kept.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/digest.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/limit_refusal.h"
#include "tests/integration/server/long_work.h"
#include "tests/integration/server/raw_http2.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/integration/server/stream_client.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

constexpr std::uint64_t kLowest = 1 << 20;  // that these options may have

class ByteLimits : public RefusalTest {
 protected:
  // A call that needs more than the lowest limit and never fits: `run` starts a server and makes
  // it. What it needs is accepted, and one byte less is refused.
  template <class Run>
  void ExpectExact(const std::string& name, std::uint64_t& limit, const Refusal& refusal,
                   const Run& run) {
    SCOPED_TRACE(name);
    const grpc::Status first = run();
    EXPECT_EQ(RefusalOf(first), refusal) << first.error_message();
    const std::uint64_t needed = NeededOf(first);
    ASSERT_GT(needed, limit);
    limit = needed;
    EXPECT_CODE(run(), StatusCode::OK);
    EXPECT_EQ(Listed(name), needed);
    limit = needed - 1;
    EXPECT_REFUSAL(run(), refusal);
  }
  static v1::CompareDeformersRequest CompareOf(const v1::StreamOpen& open, const TubeShape& shape) {
    v1::CompareDeformersRequest request;
    *request.add_targets() = open.target();
    *request.mutable_poses()->add_poses() = TubePose(1, 0, shape);
    return request;
  }
  grpc::Status Compare(const v1::CompareDeformersRequest& request) {
    grpc::ClientContext context;
    return ReadToEnd(*stubs().deforms->CompareDeformers(&context, request));
  }
};

TEST_F(ByteLimits, FramesOfOneCallAreExact) {
  const TubeShape shape{.rings = 900, .segments = 100};
  config.compute.frame_bytes = kLowest;
  ExpectExact("max-frame-bytes", config.compute.frame_bytes, Refused("max-frame-bytes"), [&] {
    Start();
    v1::DeformRequest request;
    *request.mutable_target() = OpenRecipe(stubs().UploadTube(shape), "lbs").target();
    *request.mutable_pose() = TubePose(1, 0, shape);
    v1::DeformResponse response;
    return stubs().Deform(request, response);
  });
}

TEST_F(ByteLimits, FramesOfAllStreamsAreExact) {
  const TubeShape shape{.rings = 900, .segments = 100};
  const auto open = [&] { return OpenRecipe(stubs().UploadTube(shape), "lbs"); };
  config.compute.frame_bytes = kLowest;
  Start();
  const std::uint64_t one = NeededOf(Stream(stubs(), open()).Finish());
  ASSERT_GT(one, kLowest);
  for (const bool beyond : {false, true}) {
    config.compute.frame_bytes = 2 * one - (beyond ? 1 : 0);
    Start();
    const v1::StreamOpen target = open();
    auto first = std::make_unique<Stream>(stubs(), target);
    EXPECT_NE(first->Opened().session(), "");
    EXPECT_EQ(Used("max-frame-bytes"), one);
    Stream second(stubs(), target);
    if (!beyond) {
      EXPECT_NE(second.Opened().session(), "");
      continue;
    }
    EXPECT_REFUSAL(second.Finish(), RefusedForNow("max-frame-bytes"));
    first.reset();
    WaitForUse("max-frame-bytes", 0);
    EXPECT_NE(Stream(stubs(), target).Opened().session(), "");
  }
}

// A call that waits for a bind holds its request; another one needs what is left.
TEST_F(ByteLimits, HeldRequestsAreExact) {
  const auto upload = [&] {
    return UploadPart(stubs(), std::string(64, 'a'), 1'000'000, std::string(600'000, 'x'));
  };
  v1::Pose large = TubePose(1);
  large.set_joint_transforms(std::string(300'000, 'x'));
  std::string slow;
  const auto start = [&](std::uint64_t limit) {
    config.network.held_bytes = limit;
    Start();
    EXPECT_EQ(Listed("max-held-bytes"), limit);
    std::string rig;
    EXPECT_CODE(stubs().Upload(TubeRig(kSlowTube).SerializeAsString(), &rig, 1 << 16),
                StatusCode::OK);
    slow = stubs().Create(rig, kSlowRecipe).name();
    WaitForUse("max-held-bytes", 0);
  };
  const auto wait_for_call = [&] {
    WaitUntil([&] { return Used("max-held-bytes") > 600'000; });
    return Used("max-held-bytes");
  };
  config.network.held_bytes = kLowest;
  Start();
  const grpc::Status never_fits = upload();
  EXPECT_EQ(RefusalOf(never_fits), Refused("max-held-bytes")) << never_fits.error_message();
  std::uint64_t used = 0;
  {
    start(1 << 30);
    Calls calls(stubs());
    calls.Deform(slow, large);
    used = wait_for_call();
  }
  for (const bool beyond : {false, true}) {
    start(used + NeededOf(never_fits) - (beyond ? 1 : 0));
    Calls calls(stubs());
    calls.Deform(slow, large);
    EXPECT_EQ(wait_for_call(), used);
    if (!beyond) {
      EXPECT_CODE(upload(), StatusCode::OK);
      continue;
    }
    EXPECT_REFUSAL(upload(), RefusedForNow("max-held-bytes"));
    calls.Cancel(0);
    WaitForUse("max-held-bytes", 0);
    EXPECT_CODE(upload(), StatusCode::OK);
  }
}

TEST_F(ByteLimits, OneComparisonIsExact) {
  const TubeShape shape{.rings = 200, .segments = 60};
  config.compare.bytes = kLowest;
  ExpectExact("max-compare-bytes", config.compare.bytes, Refused("max-compare-bytes"), [&] {
    Start();
    v1::CompareDeformersRequest request =
        CompareOf(OpenRecipe(stubs().UploadTube(shape), "lbs"), shape);
    request.set_self_intersections(true);
    return Compare(request);
  });
}

// A comparison that waits for a bind holds its memory.
TEST_F(ByteLimits, AllComparisonsAreExact) {
  config.compare.bytes = kLowest;
  Start();
  const std::uint64_t one =
      NeededOf(Compare(CompareOf(OpenRecipe(stubs().UploadTube(kSlowTube), "lbs"), kSlowTube)));
  ASSERT_GT(one, kLowest);
  for (const bool beyond : {false, true}) {
    config.compare.bytes = 2 * one - (beyond ? 1 : 0);
    Start();
    const std::string rig = stubs().UploadTube(kSlowTube);
    const v1::CompareDeformersRequest quick = CompareOf(OpenRecipe(rig, "lbs"), kSlowTube);
    grpc::ClientContext context;
    const auto waiting = stubs().deforms->CompareDeformers(
        &context, CompareOf(OpenFor(stubs().Create(rig, kSlowRecipe).name()), kSlowTube));
    WaitForUse("max-compare-bytes", one);
    if (beyond) {
      EXPECT_REFUSAL(Compare(quick), RefusedForNow("max-compare-bytes"));
    } else {
      EXPECT_CODE(Compare(quick), StatusCode::OK);
    }
    context.TryCancel();
    EXPECT_CODE(waiting->Finish(), StatusCode::CANCELLED);
    WaitForUse("max-compare-bytes", 0);
    EXPECT_CODE(Compare(quick), StatusCode::OK);
  }
}

TEST_F(ByteLimits, BoundDataOfOneSessionIsExact) {
  config.binds.bound_bytes = 1024;
  ExpectExact("max-bound-bytes", config.binds.bound_bytes, Refused("max-bound-bytes"), [&] {
    Start();
    v1::Session session;
    return stubs().Create(CreateRequest(stubs().UploadTube(), "dqs"), session);
  });
}

TEST_F(ByteLimits, BoundDataOfAllSessionsIsExact) {
  const auto create = [&](const std::string& recipe, v1::Session& session) {
    return stubs().Create(CreateRequest(stubs().UploadTube(), recipe), session);
  };
  v1::Session first, second;
  config.binds.bound_bytes = 1024;
  Start();
  const std::uint64_t needed = NeededOf(create("dqs(blend=0.6)", second));
  config.binds.bound_bytes = 1 << 30;
  Start();
  ASSERT_CODE(create("dqs(blend=0.5)", first), StatusCode::OK);
  stubs().Watch(first.name());
  const std::uint64_t used = Used("max-bound-bytes");
  for (const bool beyond : {false, true}) {
    config.binds.bound_bytes = used + needed - (beyond ? 1 : 0);
    Start();
    ASSERT_CODE(create("dqs(blend=0.5)", first), StatusCode::OK);
    stubs().Watch(first.name());
    ASSERT_EQ(Used("max-bound-bytes"), used);
    if (!beyond) {
      EXPECT_CODE(create("dqs(blend=0.6)", second), StatusCode::OK);
      continue;
    }
    EXPECT_REFUSAL(create("dqs(blend=0.6)", second), RefusedForNow("max-bound-bytes"));
    EXPECT_CODE(stubs().DeleteSession(first.name()), StatusCode::OK);
    EXPECT_CODE(create("dqs(blend=0.6)", second), StatusCode::OK);
  }
}

TEST_F(ByteLimits, StoredBytesAreExact) {
  const std::string one = TubeRig({.rings = 20}).SerializeAsString();
  const std::string two = TubeRig({.rings = 30}).SerializeAsString();
  config.rigs.bytes = two.size();
  for (const bool beyond : {false, true}) {
    config.rigs.stored_bytes = one.size() + two.size() - (beyond ? 1 : 0);
    Start();
    EXPECT_EQ(Listed("max-stored-bytes"), config.rigs.stored_bytes);
    std::string name;
    EXPECT_CODE(stubs().Upload(one, &name), StatusCode::OK);
    if (!beyond) {
      EXPECT_CODE(stubs().Upload(two), StatusCode::OK);
      continue;
    }
    EXPECT_REFUSAL(stubs().Upload(two), RefusedForNow("max-stored-bytes"));
    EXPECT_CODE(stubs().DeleteRig(name), StatusCode::OK);
    EXPECT_CODE(stubs().Upload(two), StatusCode::OK);
  }
}

TEST_F(ByteLimits, BytesOfUnfinishedUploadsAreExact) {
  const std::string one = TubeRig({.rings = 20}).SerializeAsString();
  const std::string two = TubeRig({.rings = 30}).SerializeAsString();
  config.rigs.bytes = two.size();
  const auto begin = [&](const std::string& rig) {
    return UploadPart(stubs(), Sha256Hex(rig), rig.size(), rig.substr(0, 9));
  };
  for (const bool beyond : {false, true}) {
    config.rigs.upload_bytes = one.size() + two.size() - (beyond ? 1 : 0);
    Start();
    EXPECT_EQ(Listed("max-upload-bytes"), config.rigs.upload_bytes);
    EXPECT_CODE(begin(one), StatusCode::OK);
    if (beyond) {
      EXPECT_REFUSAL(begin(two), RefusedForNow("max-upload-bytes"));
      EXPECT_EQ(Used("max-upload-bytes"), one.size());
      EXPECT_CODE(stubs().Upload(one), StatusCode::OK);
    }
    EXPECT_CODE(begin(two), StatusCode::OK);
    EXPECT_EQ(Used("max-upload-bytes"), two.size() + (beyond ? 0 : one.size()));
  }
}

TEST_F(ByteLimits, UnfinishedUploadIsKeptUpToItsTime) {
  config.rigs.upload_seconds = 100;
  Start(clock);
  EXPECT_EQ(Listed("max-upload-seconds"), 100u);
  const std::string sha256(64, 'a');
  EXPECT_CODE(UploadPart(stubs(), sha256, 2000, "xyz"), StatusCode::OK);
  const auto committed = [&] {  // asking does not renew it
    v1::UploadRigResponse response;
    EXPECT_CODE(UploadPart(stubs(), sha256, 2000, "", &response), StatusCode::OK);
    return response.committed_bytes();
  };
  clock.Advance(std::chrono::seconds(100));
  EXPECT_EQ(committed(), 3u);
  clock.Advance(std::chrono::milliseconds(300));
  EXPECT_EQ(committed(), 0u);
  EXPECT_EQ(Used("max-uploads"), 0u);
}

// While the session of a stream is being found, it holds the poses that wait, and no more.
TEST_F(ByteLimits, ReplacedPosesAreGivenBack) {
  Start();
  const std::string slow = stubs().UploadTube(kLongTube);
  Calls estimates(stubs());
  for (int k = 0; k < 40; ++k) estimates.Estimate(slow, SlowEstimate(k));
  WaitUntil([&] {  // the stream comes behind them
    return MetricOf(server().http_address(),
                    "sinew_rpcs_in_flight{method=\"sinew.v1.SessionService/CreateSession\"}") ==
           "40";
  });
  v1::StreamOpen open = OpenRecipe(slow, SlowEstimate(40));
  open.set_mode(v1::ORDER_MODE_LATEST);
  Stream stream(stubs(), open);
  v1::Pose pose;
  pose.set_joint_transforms(std::string(200'000, 'x'));
  for (std::uint64_t k = 1; k <= 40; ++k) {
    pose.set_frame(k);
    EXPECT_TRUE(stream.Send(pose));
  }
  WaitUntil([&] { return MetricOf(server().http_address(), "sinew_poses_skipped_total") == "39"; });
  EXPECT_LT(Used("max-held-bytes"), 5u << 20) << "of 40 calls and a pose; 40 poses take 16 MB";
  EXPECT_LT(estimates.finished(), estimates.size());
}

TEST_F(ByteLimits, UpdatesOfSessionsAreHeldUntilTheyAreRead) {
  Start();
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  const std::uint64_t size = stubs().Watch(session).ByteSizeLong();
  RawHttp2 reader(server().addresses().front(), 0);
  v1::WatchSessionRequest request;
  request.set_name(session);
  constexpr std::uint64_t kCalls = 20, kCallBytes = 32 << 10;
  for (std::uint64_t k = 0; k < kCalls; ++k) {
    reader.Call("sinew.v1.SessionService/WatchSession", request.SerializeAsString());
  }
  WaitUntil([&] { return Used("max-held-bytes") >= kCalls * (kCallBytes + size); });
}

}  // namespace
}  // namespace sinew::testing
