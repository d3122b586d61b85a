// ComputeWeights: what it makes, what it refuses, how it ends, and its limits at their value and
// one past.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/server/rig_job_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

using Answer = RigJobAnswer<v1::WeightsReport>;

// Seconds of work: for looking at, waiting for and cancelling.
constexpr TubeShape kSlow{.rings = 600, .segments = 100, .joints = 60, .height = 40};

class WeightsTest : public RigJobTest {
 protected:
  static v1::Rig Bare(const TubeShape& shape = {}) {
    v1::Rig rig = TubeRig(shape);
    rig.mutable_meshes(0)->clear_skin();
    return rig;
  }
  static v1::ComputeWeightsRequest Request(const std::string& rig, v1::WeightMethod method) {
    v1::ComputeWeightsRequest request;
    request.set_rig(rig);
    request.set_method(method);
    return request;
  }
  Answer Run(const v1::ComputeWeightsRequest& request, grpc::ClientContext& context) {
    return Finish<v1::WeightsReport>(stubs().rigs->ComputeWeights(&context, request));
  }
  Answer Run(const v1::ComputeWeightsRequest& request) {
    grpc::ClientContext context;
    return Run(request, context);
  }
};

constexpr v1::WeightMethod kMethods[] = {v1::WEIGHT_METHOD_CAPSULE, v1::WEIGHT_METHOD_HEAT,
                                         v1::WEIGHT_METHOD_GEODESIC};

TEST_F(WeightsTest, MeshWithoutSkinNeedsComputedWeights) {
  Start();
  const std::string bare = Put(Bare());
  grpc::ClientContext context;
  v1::GetRigRequest get;
  get.set_name(bare);
  v1::GetRigResponse got;
  EXPECT_CODE(stubs().rigs->GetRig(&context, get, &got), StatusCode::OK);
  EXPECT_TRUE(got.rig().without_weights());
  EXPECT_EQ(got.rig().vertices(), 72u);
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(bare);
  create.mutable_source()->set_recipe_text("lbs");
  v1::Session session;
  for (const bool dry : {true, false}) {
    create.set_validate_only(dry);
    const grpc::Status refused = stubs().Create(create, session);
    EXPECT_CODE(refused, StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(ReasonOf(refused), "NO_WEIGHTS");
    EXPECT_NE(refused.error_message().find("ComputeWeights"), std::string::npos);
  }
  for (const v1::WeightMethod method : kMethods) {
    const Answer answer = Run(Request(bare, method));
    ASSERT_CODE(answer.status, StatusCode::OK);
    EXPECT_FALSE(answer.rig.without_weights());
    EXPECT_EQ(answer.rig.vertices(), 72u);
    EXPECT_EQ(answer.progress.back(), 1);
    EXPECT_TRUE(std::is_sorted(answer.progress.begin(), answer.progress.end()));
    const v1::Rig rig = Download(answer.rig.name());
    v1::Rig stripped = rig;
    stripped.mutable_meshes(0)->clear_skin();
    EXPECT_SAME_BYTES(stripped.SerializeAsString(), Bare().SerializeAsString());
    // Bind and deform: the whole chain moved along x moves every vertex alike.
    v1::DeformRequest request;
    request.mutable_target()->set_session(stubs().Create(answer.rig.name(), "lbs").name());
    *request.mutable_pose() = TubePose(1, 5);
    v1::DeformResponse response;
    ASSERT_CODE(stubs().Deform(request, response), StatusCode::OK);
    const auto posed = FloatsOf(response.frame().positions());
    const auto rest = FloatsOf(rig.meshes(0).positions().data());
    ASSERT_EQ(posed.size(), rest.size());
    for (std::size_t i = 0; i < posed.size(); ++i) {
      EXPECT_NEAR(posed[i], rest[i] + (i % 3 == 0 ? 5 : 0), 1e-5) << method << " " << i;
    }
  }
}

TEST_F(WeightsTest, ReplacesSkinInBindPose) {
  Start();
  // Bound 7 above the rest pose: positions and inverse binds agree with each other, not with it.
  v1::Rig rig = TubeRig();
  std::vector<float> positions = FloatsOf(rig.meshes(0).positions().data());
  for (std::size_t i = 1; i < positions.size(); i += 3) positions[i] += 7;
  rig.mutable_meshes(0)->mutable_positions()->set_data(FloatBytes(positions));
  v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
  std::vector<float> inverse = FloatsOf(skin.inverse_bind().data());
  for (std::size_t i = 7; i < inverse.size(); i += 12) inverse[i] -= 7;
  skin.mutable_inverse_bind()->set_data(FloatBytes(inverse));
  for (const v1::WeightMethod method : kMethods) {
    const Answer moved = Run(Request(Put(rig), method));
    const Answer plain = Run(Request(Put(Bare()), method));
    ASSERT_CODE(moved.status, StatusCode::OK);
    ASSERT_CODE(plain.status, StatusCode::OK);
    const v1::Rig a = Download(moved.rig.name()), b = Download(plain.rig.name());
    const auto wa = FloatsOf(a.meshes(0).skin().influence_weights().data());
    const auto wb = FloatsOf(b.meshes(0).skin().influence_weights().data());
    ASSERT_EQ(wa.size(), wb.size()) << method;
    double difference = 0;
    for (std::size_t i = 0; i < wa.size(); ++i) difference += std::abs(wa[i] - wb[i]);
    EXPECT_LT(difference / static_cast<double>(wa.size()), 0.02) << method;
    const auto kept = FloatsOf(a.meshes(0).skin().inverse_bind().data());
    EXPECT_EQ(kept[7], inverse[7]) << "the inverse binds that were there stay";
  }
}

TEST_F(WeightsTest, SkipsSingularBindMatrices) {
  Start();
  v1::Rig rig = TubeRig();
  const std::string plain = Put(rig);
  // Every joint once more, before the others, with a matrix that says nothing.
  v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
  const auto joints = skin.joints();
  skin.mutable_joints()->MergeFrom(joints);
  skin.mutable_inverse_bind()->set_rows(2 * skin.inverse_bind().rows());
  skin.mutable_inverse_bind()->set_data(std::string(skin.inverse_bind().data().size(), '\0') +
                                        skin.inverse_bind().data());
  const auto inverse = [&](const std::string& name) {
    const Answer answer = Run(Request(name, v1::WEIGHT_METHOD_CAPSULE));
    EXPECT_CODE(answer.status, StatusCode::OK);
    return FloatsOf(Download(answer.rig.name()).meshes(0).skin().inverse_bind().data());
  };
  const std::vector<float> kept = inverse(plain);
  EXPECT_FALSE(kept.empty());
  EXPECT_EQ(inverse(Put(rig)), kept);
}

TEST_F(WeightsTest, EqualRequestsGiveSameRig) {
  Start();
  const std::string bare = Put(Bare());
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    for (const v1::WeightMethod method : kMethods) {
      names.insert(Run(Request(bare, method)).rig.name());
    }
    EXPECT_EQ(stubs().Stats().rigs(), 1 + names.size());
  }
  v1::ComputeWeightsRequest explicit_defaults = Request(bare, v1::WEIGHT_METHOD_HEAT);
  explicit_defaults.set_max_influences(4);
  explicit_defaults.set_smooth(0);
  explicit_defaults.mutable_heat()->set_strength(4);
  EXPECT_EQ(names.count(Run(explicit_defaults).rig.name()), 1u);
  explicit_defaults.set_max_influences(1);
  EXPECT_EQ(names.count(Run(explicit_defaults).rig.name()), 0u);
}

TEST_F(WeightsTest, OnlyNamedJointsCarrySkin) {
  Start();
  v1::Rig rig = Bare();
  rig.mutable_joints(1)->set_helper(true);
  const auto carriers = [&](const v1::ComputeWeightsRequest& request) {
    const Answer answer = Run(request);
    EXPECT_CODE(answer.status, StatusCode::OK);
    const v1::Rig weighted = Download(answer.rig.name());
    const auto& joints = weighted.meshes(0).skin().joints();
    return std::set<std::uint32_t>(joints.begin(), joints.end());
  };
  v1::ComputeWeightsRequest request = Request(Put(rig), v1::WEIGHT_METHOD_CAPSULE);
  EXPECT_EQ(carriers(request).count(1), 0u) << "helpers carry nothing by default";
  request.add_joints("joint1");
  EXPECT_EQ(carriers(request), std::set<std::uint32_t>{1});
}

TEST_F(WeightsTest, WrongRequestErrorsNameField) {
  Start();
  const std::string bare = Put(Bare());
  const auto refused = [&](auto spoil) {
    v1::ComputeWeightsRequest request = Request(bare, v1::WEIGHT_METHOD_HEAT);
    spoil(request);
    const Answer answer = Run(request);
    EXPECT_CODE(answer.status, StatusCode::INVALID_ARGUMENT);
    return FieldOf(answer.status);
  };
  using R = v1::ComputeWeightsRequest&;
  EXPECT_EQ(refused([](R r) { r.set_rig("hero.glb"); }), "rig");
  EXPECT_EQ(refused([](R r) { r.clear_method(); }), "method");
  EXPECT_EQ(refused([](R r) { r.set_method(static_cast<v1::WeightMethod>(9)); }), "method");
  EXPECT_EQ(refused([](R r) { r.set_max_influences(0); }), "max_influences");
  EXPECT_EQ(refused([](R r) { r.set_max_influences(256); }), "max_influences");
  EXPECT_EQ(refused([](R r) { r.set_prune(0.51f); }), "prune");
  EXPECT_EQ(refused([](R r) { r.set_prune(NAN); }), "prune");
  EXPECT_EQ(refused([](R r) { r.set_smooth(101); }), "smooth");
  EXPECT_EQ(refused([](R r) { r.mutable_heat()->set_strength(INFINITY); }), "heat.strength");
  EXPECT_EQ(refused([](R r) { r.mutable_capsule(); }), "capsule");
  EXPECT_EQ(refused([](R r) { r.mutable_geodesic(); }), "geodesic");
  EXPECT_EQ(refused([](R r) {
              r.set_method(v1::WEIGHT_METHOD_GEODESIC);
              r.mutable_heat();
            }),
            "heat");
  EXPECT_EQ(refused([](R r) {
              r.set_method(v1::WEIGHT_METHOD_GEODESIC);
              r.mutable_geodesic()->set_resolution(15);
            }),
            "geodesic.resolution");
  EXPECT_EQ(refused([](R r) { r.add_joints("unknown"); }), "joints[0]");
  EXPECT_EQ(refused([](R r) {
              r.add_joints("joint0");
              r.add_joints("joint0");
            }),
            "joints[1]");
  EXPECT_EQ(refused([](R r) { r.GetReflection()->MutableUnknownFields(&r)->AddVarint(77, 1); }),
            "77");
  EXPECT_CODE(Run(Request("rigs/sha256-" + std::string(64, '0'), v1::WEIGHT_METHOD_HEAT)).status,
              StatusCode::NOT_FOUND);
  v1::Rig jointless = Bare();
  jointless.clear_joints();
  jointless.clear_rest_local();
  EXPECT_CODE(stubs().Upload(jointless.SerializeAsString()), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(stubs().Stats().rigs(), 1u);
}

TEST_F(WeightsTest, CancelAndDeadlineEndWork) {
  config.weights.count = 2;  // the cancelled one may still be letting go
  Start();
  const std::string slow = Put(Bare(kSlow));
  const v1::ComputeWeightsRequest request = Request(slow, v1::WEIGHT_METHOD_HEAT);
  {
    grpc::ClientContext context;
    auto reader = stubs().rigs->ComputeWeights(&context, request);
    v1::ComputeWeightsResponse response;
    ASSERT_TRUE(reader->Read(&response)) << "progress";
    context.TryCancel();
    while (reader->Read(&response)) {
    }
    EXPECT_CODE(reader->Finish(), StatusCode::CANCELLED);
  }
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    EXPECT_CODE(Run(request, context).status, StatusCode::DEADLINE_EXCEEDED);
  }
  // What was cancelled has let go: the next, quick one gets through, and nothing was stored.
  grpc::Status next;
  const std::string quick = Put(Bare());
  WaitUntil([&] {
    next = Run(Request(quick, v1::WEIGHT_METHOD_CAPSULE)).status;
    return next.error_code() != StatusCode::RESOURCE_EXHAUSTED;
  });
  EXPECT_CODE(next, StatusCode::OK);
  EXPECT_EQ(stubs().Stats().rigs(), 3u) << "two bare ones and one result";
}

TEST_F(WeightsTest, DrainingEndsWork) {
  Start();
  const std::string slow = Put(Bare(kSlow));
  grpc::ClientContext context;
  auto reader = stubs().rigs->ComputeWeights(&context, Request(slow, v1::WEIGHT_METHOD_HEAT));
  v1::ComputeWeightsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server().Drain();
  while (reader->Read(&response)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_CODE(status, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
}

TEST_F(WeightsTest, ResolutionLimitIsExact) {
  config.weights.resolution = 32;
  Start();
  v1::ComputeWeightsRequest request = Request(Put(Bare()), v1::WEIGHT_METHOD_GEODESIC);
  EXPECT_CODE(Run(request).status, StatusCode::OK);  // the default becomes what is allowed
  request.mutable_geodesic()->set_resolution(32);
  EXPECT_CODE(Run(request).status, StatusCode::OK);
  request.mutable_geodesic()->set_resolution(33);
  EXPECT_REFUSAL(Run(request).status, Refused("max-weight-resolution"));
}

TEST_F(WeightsTest, MemoryLimitIsExact) {
  const auto run = [&](std::uint64_t limit) {
    config.weights.memory_bytes = limit;
    Start();
    v1::ComputeWeightsRequest request = Request(Put(Bare()), v1::WEIGHT_METHOD_GEODESIC);
    request.mutable_geodesic()->set_resolution(256);
    return Run(request).status;
  };
  // The first check that fails names what it needs; later ones may need more.
  std::uint64_t need = 1 << 20;
  grpc::Status status = run(need);
  for (int i = 0; i < 5 && !status.ok(); ++i) {
    EXPECT_EQ(RefusalOf(status), Refused("max-weight-bytes")) << status.error_message();
    const std::uint64_t more = NeededOf(status);
    ASSERT_GT(more, need) << status.error_message();
    need = more;
    EXPECT_REFUSAL(run(need - 1), Refused("max-weight-bytes"));
    status = run(need);
  }
  EXPECT_CODE(status, StatusCode::OK);
  EXPECT_GT(need, 1u << 20);
}

TEST_F(WeightsTest, TimeIsLimited) {
  config.weights.seconds = 5;
  config.streams.stall_seconds = 1e6;
  Start(clock);
  const v1::ComputeWeightsRequest request = Request(Put(Bare(kSlow)), v1::WEIGHT_METHOD_HEAT);
  grpc::Status status;
  std::thread computing([&] { status = Run(request).status; });
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  clock.Advance(std::chrono::milliseconds(4'900));
  EXPECT_EQ(stubs().Stats().binds_running(), 1u);
  ExceedBindTime();
  computing.join();
  EXPECT_REFUSAL(status, Refused("max-weight-seconds"));
}

TEST_F(WeightsTest, NewRigCountsTowardsLimit) {
  Start();
  const std::uint64_t result =
      Run(Request(Put(Bare()), v1::WEIGHT_METHOD_CAPSULE)).rig.size_bytes();
  for (const bool past : {false, true}) {
    config.rigs.bytes = result - (past ? 1 : 0);
    Start();
    const grpc::Status status = Run(Request(Put(Bare()), v1::WEIGHT_METHOD_CAPSULE)).status;
    EXPECT_EQ(RefusalOf(status), past ? Refused("max-rig-bytes") : Refusal()) << past;
  }
  config.rigs = {};
  config.rigs.count = 1;
  Start();
  EXPECT_REFUSAL(Run(Request(Put(Bare()), v1::WEIGHT_METHOD_CAPSULE)).status,
                 RefusedForNow("max-rigs"));
}

}  // namespace
}  // namespace sinew::testing
