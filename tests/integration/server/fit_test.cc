// FitSkeleton: what it makes, what it refuses, how it ends, and its limits at their value and one
// past.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/fit/fit_skeleton.h"
#include "tests/integration/server/rig_job_fixture.h"
#include "tests/support/figures.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

using FitAnswer = RigJobAnswer<v1::FitReport>;

// A mesh without a skin, and the one joint that a rig needs.
v1::Rig Statue(const Body& body) {
  v1::Rig rig;
  rig.set_up_axis(v1::UP_AXIS_Y);
  rig.add_joints()->set_name("root");
  *rig.mutable_rest_local() = FloatArray(Lift(0), 12);
  v1::Mesh& mesh = *rig.add_meshes();
  mesh.set_name("statue");
  std::vector<float> points;
  for (const Vec3d& p : body.points) {
    const Vec3f at = ToFloat(p);
    points.insert(points.end(), {at.x, at.y, at.z});
  }
  std::vector<std::uint32_t> sizes, corners;
  for (const auto& face : body.faces) {
    sizes.push_back(static_cast<std::uint32_t>(face.size()));
    corners.insert(corners.end(), face.begin(), face.end());
  }
  *mesh.mutable_positions() = FloatArray(points, 3);
  *mesh.mutable_face_sizes() = IntArray(sizes);
  *mesh.mutable_face_vertices() = IntArray(corners);
  return rig;
}

class FitTest : public RigJobTest {
 protected:
  static const Figure& Human() {
    static const Figure figure = Standing("human");
    return figure;
  }
  v1::FitSkeletonRequest Request() {
    v1::FitSkeletonRequest request;
    request.set_rig(Put(Statue(Human().body)));
    request.set_built_in("human");
    request.set_resolution(96);
    return request;
  }
  // Seconds of work: for looking at, waiting for and cancelling.
  v1::FitSkeletonRequest Slow() {
    v1::FitSkeletonRequest request = Request();
    request.set_resolution(384);
    return request;
  }
  FitAnswer Run(const v1::FitSkeletonRequest& request, grpc::ClientContext& context) {
    return Finish<v1::FitReport>(stubs().rigs->FitSkeleton(&context, request));
  }
  FitAnswer Run(const v1::FitSkeletonRequest& request) {
    grpc::ClientContext context;
    return Run(request, context);
  }
};

// Joint to model, of joints that only move.
std::vector<Vec3d> PlacesOf(const v1::Rig& rig) {
  std::vector<float> local(rig.rest_local().data().size() / sizeof(float));
  std::memcpy(local.data(), rig.rest_local().data().data(), rig.rest_local().data().size());
  std::vector<Vec3d> places;
  for (int j = 0; j < rig.joints_size(); ++j) {
    const float* m = &local[static_cast<std::size_t>(j) * 12];
    const Vec3d above = rig.joints(j).has_parent() ? places[rig.joints(j).parent()] : Vec3d{};
    places.push_back(above + Vec3d{m[3], m[7], m[11]});
  }
  return places;
}

TEST_F(FitTest, PlacesTheJointsOfTheTemplate) {
  Start();
  const v1::FitSkeletonRequest request = Request();
  const FitAnswer answer = Run(request);
  ASSERT_CODE(answer.status, StatusCode::OK);
  EXPECT_TRUE(answer.rig.without_weights());
  EXPECT_EQ(answer.progress.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(answer.progress));
  EXPECT_LT(answer.report.facing().residual(), kDoubtfulResidual);
  EXPECT_THAT(answer.report.facing().up(), ::testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(answer.report.facing().forward(), ::testing::ElementsAre(0, 0, 1));
  const v1::Rig rig = Download(answer.rig.name());
  EXPECT_EQ(rig.meshes(0).SerializeAsString(), Statue(Human().body).meshes(0).SerializeAsString());
  const std::vector<Vec3d> places = PlacesOf(rig);
  ASSERT_EQ(places.size(), Human().places.size());
  for (std::size_t j = 0; j < places.size(); ++j) {
    EXPECT_EQ(rig.joints(static_cast<int>(j)).name(), Human().skeleton.joints[j].name);
    EXPECT_LT(Length(places[j] - Human().places[j]), 0.1 * Human().height) << j;
  }
  EXPECT_EQ(Run(request).rig.name(), answer.rig.name()) << "the same bits";

  v1::ComputeWeightsRequest weights;
  weights.set_rig(answer.rig.name());
  weights.set_method(v1::WEIGHT_METHOD_HEAT);
  grpc::ClientContext context;
  EXPECT_CODE(ReadToEnd(*stubs().rigs->ComputeWeights(&context, weights)), StatusCode::OK);
}

TEST_F(FitTest, TemplateOfTheRequestAndHintsCount) {
  Start();
  v1::FitSkeletonRequest request = Request();
  for (const fit::TemplateJoint& from : Human().skeleton.joints) {
    v1::TemplateJoint& joint = *request.mutable_skeleton()->add_joints();
    joint.set_name("my " + from.name);
    if (from.parent != fit::kNone) joint.set_parent(from.parent);
    if (from.partner != fit::kNone) joint.set_partner(from.partner);
    joint.set_x(from.place.x);
    joint.set_y(from.place.y);
    joint.set_z(from.place.z);
    joint.set_wide(from.wide);
    joint.set_foot(from.foot);
  }
  v1::JointHint& hint = *request.add_hints();
  hint.set_joint("my left_knee");
  hint.set_x(0.15);
  hint.set_y(-0.4);
  const FitAnswer answer = Run(request);
  ASSERT_CODE(answer.status, StatusCode::OK);
  const v1::Rig rig = Download(answer.rig.name());
  const auto knee = std::ranges::find(rig.joints(), "my left_knee", &v1::Joint::name);
  ASSERT_NE(knee, rig.joints().end());
  const Vec3d place = PlacesOf(rig)[static_cast<std::size_t>(knee - rig.joints().begin())];
  EXPECT_LT(Length(place - Vec3d{0.15, -0.4, 0}), 1e-5);
}

TEST_F(FitTest, BadRequestsNameTheField) {
  Start();
  const v1::FitSkeletonRequest good = Request();
  const auto refused = [&](auto spoil) {
    v1::FitSkeletonRequest request = good;
    spoil(request);
    const FitAnswer answer = Run(request);
    EXPECT_CODE(answer.status, StatusCode::INVALID_ARGUMENT);
    return FieldOf(answer.status);
  };
  using R = v1::FitSkeletonRequest&;
  EXPECT_EQ(refused([](R r) { r.set_rig("hero.glb"); }), "rig");
  EXPECT_EQ(refused([](R r) { r.clear_built_in(); }), "template");
  EXPECT_EQ(refused([](R r) { r.set_built_in("squid"); }), "built_in");
  EXPECT_EQ(refused([](R r) { r.mutable_skeleton(); }), "skeleton");
  EXPECT_EQ(refused([](R r) {
              for (int k = 0; k < 65; ++k) r.mutable_skeleton()->add_joints();
            }),
            "skeleton.joints");
  EXPECT_EQ(refused([](R r) { r.set_resolution(63); }), "resolution");
  EXPECT_EQ(refused([](R r) { r.set_resolution(385); }), "resolution");
  EXPECT_EQ(refused([](R r) { r.set_scale(0.4); }), "scale");
  EXPECT_EQ(refused([](R r) { r.set_scale(NAN); }), "scale");
  EXPECT_EQ(refused([](R r) { r.add_hints()->set_joint("nose"); }), "hints[0].joint");
  EXPECT_EQ(refused([](R r) {
              r.add_hints()->set_joint("head");
              r.mutable_hints(0)->set_y(INFINITY);
            }),
            "hints[0].place");
  EXPECT_EQ(refused([](R r) {
              for (int k = 0; k < 23; ++k) r.add_hints()->set_joint("head");
            }),
            "hints");
  EXPECT_EQ(refused([](R r) { r.GetReflection()->MutableUnknownFields(&r)->AddVarint(77, 1); }),
            "77");
  v1::FitSkeletonRequest unknown = good;
  unknown.set_rig("rigs/sha256-" + std::string(64, '0'));
  EXPECT_CODE(Run(unknown).status, StatusCode::NOT_FOUND);
  EXPECT_EQ(stubs().Stats().rigs(), 1u);
}

TEST_F(FitTest, RigsThatCannotTakeJointsAreRefused) {
  Start();
  v1::FitSkeletonRequest request = Request();
  request.set_rig(stubs().UploadTube());
  const grpc::Status skinned = Run(request).status;
  EXPECT_CODE(skinned, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(FieldOf(skinned), "rig.meshes[0].skin");
  v1::Rig sheet = Statue(Human().body);  // without volume
  std::vector<float> flat;
  for (const Vec3d& p : Human().body.points) {
    flat.insert(flat.end(), {static_cast<float>(p.x), static_cast<float>(p.y), 0});
  }
  *sheet.mutable_meshes(0)->mutable_positions() = FloatArray(flat, 3);
  request.set_rig(Put(sheet));
  EXPECT_CODE(Run(request).status, StatusCode::INVALID_ARGUMENT);
  request.set_rig(Put(Statue(Capsule({0, 0, 0}, {0, 0.01, 0}, 1))));
  request.set_built_in("centaur");
  request.set_scale(2);
  const grpc::Status ball = Run(request).status;
  EXPECT_CODE(ball, StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(ball.error_message(), ::testing::HasSubstr("\"centaur\" does not fit the body"));
}

TEST_F(FitTest, CancelAndDeadlineEndWork) {
  config.weights.count = 2;  // the cancelled one may still be letting go
  Start();
  const v1::FitSkeletonRequest slow = Slow();
  {
    grpc::ClientContext context;
    auto reader = stubs().rigs->FitSkeleton(&context, slow);
    v1::FitSkeletonResponse response;
    ASSERT_TRUE(reader->Read(&response)) << "progress";
    context.TryCancel();
    while (reader->Read(&response)) {
    }
    EXPECT_CODE(reader->Finish(), StatusCode::CANCELLED);
  }
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(30));
    EXPECT_CODE(Run(slow, context).status, StatusCode::DEADLINE_EXCEEDED);
  }
  grpc::Status next;
  const v1::FitSkeletonRequest quick = Request();
  WaitUntil([&] {
    next = Run(quick).status;
    return next.error_code() != StatusCode::RESOURCE_EXHAUSTED;
  });
  EXPECT_CODE(next, StatusCode::OK);
  EXPECT_EQ(stubs().Stats().rigs(), 2u) << "the statue and one result";
}

TEST_F(FitTest, DrainingEndsWork) {
  Start();
  grpc::ClientContext context;
  auto reader = stubs().rigs->FitSkeleton(&context, Slow());
  v1::FitSkeletonResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server().Drain();
  while (reader->Read(&response)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_CODE(status, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
}

TEST_F(FitTest, CountsAsAWeightCall) {
  config.weights.count = 1;
  Start();
  const v1::FitSkeletonRequest slow = Slow();
  grpc::ClientContext context;
  auto held = stubs().rigs->FitSkeleton(&context, slow);
  v1::FitSkeletonResponse response;
  ASSERT_TRUE(held->Read(&response));
  EXPECT_REFUSAL(Run(slow).status, RefusedForNow("max-weight-calls"));
  context.TryCancel();
  while (held->Read(&response)) {
  }
  EXPECT_CODE(held->Finish(), StatusCode::CANCELLED);
}

TEST_F(FitTest, ResolutionLimitIsExact) {
  config.weights.resolution = 96;
  Start();
  v1::FitSkeletonRequest request = Request();
  EXPECT_CODE(Run(request).status, StatusCode::OK);
  request.set_resolution(97);
  EXPECT_REFUSAL(Run(request).status, Refused("max-weight-resolution"));
  request.clear_resolution();
  EXPECT_CODE(Run(request).status, StatusCode::OK);  // the default becomes what is allowed
}

TEST_F(FitTest, MemoryLimitIsExact) {
  const auto run = [&](std::uint64_t limit) {
    config.weights.memory_bytes = limit;
    Start();
    return Run(Slow()).status;
  };
  // The first check that fails names what it needs; later ones may need more.
  std::uint64_t need = 1 << 20;
  grpc::Status status = run(need);
  for (int i = 0; i < 8 && !status.ok(); ++i) {
    EXPECT_EQ(RefusalOf(status), Refused("max-weight-bytes")) << status.error_message();
    const std::uint64_t more = NeededOf(status);
    ASSERT_GT(more, need) << status.error_message();
    need = more;
    EXPECT_REFUSAL(run(need - 1), Refused("max-weight-bytes"));
    status = run(need);
  }
  EXPECT_CODE(status, StatusCode::OK);
  EXPECT_GT(need, 100u << 20) << "the grids of 384 cells";
}

TEST_F(FitTest, TimeIsLimited) {
  config.weights.seconds = 5;
  config.streams.stall_seconds = 1e6;
  Start(clock);
  const v1::FitSkeletonRequest slow = Slow();
  grpc::Status status;
  std::thread computing([&] { status = Run(slow).status; });
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  ExceedBindTime();
  computing.join();
  EXPECT_REFUSAL(status, Refused("max-weight-seconds"));
}

}  // namespace
}  // namespace sinew::testing
