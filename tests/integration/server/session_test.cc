#include <gtest/gtest.h>

#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class SessionTest : public ServerTest {
 protected:
  v1::CreateSessionRequest RequestFor(const std::string& rig, const std::string& recipe_text) {
    v1::CreateSessionRequest request;
    request.mutable_source()->set_rig(rig);
    request.mutable_source()->set_recipe_text(recipe_text);
    return request;
  }
  grpc::Status Renew(const std::string& name, std::int64_t seconds, v1::Session& session) {
    grpc::ClientContext context;
    v1::RenewSessionRequest request;
    request.set_name(name);
    if (seconds != 0) request.mutable_ttl()->set_seconds(seconds);
    v1::RenewSessionResponse response;
    const grpc::Status status = stubs().sessions->RenewSession(&context, request, &response);
    session = response.session();
    return status;
  }
};

TEST_F(SessionTest, BindsAndReturnsResolvedRecipe) {
  Start();
  const std::string rig = stubs().UploadTube();
  const v1::Session created = stubs().Create(rig, "dqs(blend=0.5)");
  EXPECT_EQ(created.name().rfind("sessions/", 0), 0u);
  EXPECT_EQ(created.source().recipe_text(), "dqs(blend=0.5)");
  ASSERT_EQ(created.recipe().stages_size(), 1);
  EXPECT_EQ(created.recipe().stages(0).dqs().blend(), 0.5f);
  EXPECT_TRUE(created.recipe().stages(0).dqs().has_max_influences());
  EXPECT_FALSE(created.determinism_digest().empty());
  EXPECT_GT(created.estimate().bound_bytes(), 0u);
  EXPECT_EQ(created.ttl().seconds(), 600);
  const v1::Session ready = stubs().Watch(created.name());
  EXPECT_EQ(ready.state(), v1::Session::STATE_READY);
  EXPECT_EQ(ready.progress(), 1);
  EXPECT_GT(ready.bound_bytes(), 0u);
}

TEST_F(SessionTest, ReportsProgressWithinBounds) {
  Start();
  const std::string rig = stubs().UploadTube(kSlowTube);
  const auto start = std::chrono::steady_clock::now();
  const v1::Session session = stubs().Create(rig, "ddm(iterations=10)");
  int messages = 0;
  EXPECT_EQ(stubs().Watch(session.name(), &messages).state(), v1::Session::STATE_READY);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(messages, 1);
  EXPECT_LE(messages, 3 + seconds * 10);
}

TEST_F(SessionTest, RecipeAndTextShareBind) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig(rig);
  request.mutable_source()->mutable_recipe()->add_stages()->mutable_dqs()->set_blend(0.5f);
  v1::Session by_recipe;
  EXPECT_CODE(stubs().Create(request, by_recipe), StatusCode::OK);
  const v1::Session by_text = stubs().Create(rig, "dqs(blend=0.5)");
  EXPECT_EQ(by_recipe.determinism_digest(), by_text.determinism_digest());
  EXPECT_NE(by_recipe.name(), by_text.name());
  stubs().Watch(by_recipe.name());
  EXPECT_EQ(stubs().Stats().bound_entries(), 1u);
}

TEST_F(SessionTest, WrongSourceErrorsNameField) {
  Start();
  const std::string rig = stubs().UploadTube();
  const auto fails = [&](v1::CreateSessionRequest request) {
    v1::Session session;
    const grpc::Status status = stubs().Create(request, session);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << status.error_message();
    return FieldOf(status);
  };
  EXPECT_EQ(fails(RequestFor("nonsense", "lbs")), "source.rig");
  v1::CreateSessionRequest request = RequestFor(rig, "lbs");
  request.mutable_source()->clear_recipe_text();
  EXPECT_EQ(fails(request), "source.recipe");
  EXPECT_EQ(fails(RequestFor(rig, "dqs(blend=2)")).rfind("source.", 0), 0u);
  EXPECT_EQ(fails(RequestFor(rig, "no_such_method")).rfind("source.", 0), 0u);
  request.mutable_source()->mutable_recipe()->add_stages()->mutable_delta_mush()->set_laplacian(
      static_cast<v1::DeltaMush::Laplacian>(9));
  EXPECT_EQ(fails(request).rfind("source.recipe.stages[0]", 0), 0u);
  request = RequestFor(rig, "lbs");
  request.GetReflection()->MutableUnknownFields(&request)->AddVarint(40, 1);
  EXPECT_EQ(fails(request), "40");
  request = RequestFor(rig, "lbs");
  request.mutable_ttl()->set_seconds(0);
  EXPECT_EQ(fails(request), "ttl");
  request.mutable_ttl()->set_seconds(-5);
  EXPECT_EQ(fails(request), "ttl");
  v1::Session session;
  EXPECT_CODE(stubs().Create(RequestFor("rigs/sha256-" + std::string(64, '0'), "lbs"), session),
              StatusCode::NOT_FOUND);
}

TEST_F(SessionTest, DeterminismDigestCanBeRequired) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::CreateSessionRequest request = RequestFor(rig, "lbs");
  request.mutable_source()->set_determinism_digest("other");
  v1::Session session;
  const grpc::Status refused = stubs().Create(request, session);
  EXPECT_CODE(refused, StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(refused), "DETERMINISM_MISMATCH");
  request.mutable_source()->set_determinism_digest(stubs().Create(rig, "lbs").determinism_digest());
  EXPECT_CODE(stubs().Create(request, session), StatusCode::OK);
}

TEST_F(SessionTest, ValidateOnlyCreatesNothing) {
  Start();
  v1::CreateSessionRequest request = RequestFor(stubs().UploadTube(), "dqs");
  request.set_validate_only(true);
  v1::Session session;
  EXPECT_CODE(stubs().Create(request, session), StatusCode::OK);
  EXPECT_EQ(session.name(), "");
  EXPECT_GT(session.estimate().bound_bytes(), 0u);
  EXPECT_EQ(session.recipe().stages(0).dqs().blend(), 1.0f);
  EXPECT_EQ(stubs().Stats().sessions(), 0u);
  EXPECT_EQ(stubs().Stats().bound_entries(), 0u);
}

TEST_F(SessionTest, RequestIdIsIdempotent) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::CreateSessionRequest request = RequestFor(rig, "lbs");
  request.set_request_id("mine");
  v1::Session first, second;
  EXPECT_CODE(stubs().Create(request, first), StatusCode::OK);
  EXPECT_CODE(stubs().Create(request, second), StatusCode::OK);
  EXPECT_EQ(first.name(), second.name());
  request.mutable_source()->set_recipe_text("dqs");
  EXPECT_CODE(stubs().Create(request, second), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(stubs().Stats().sessions(), 1u);
}

TEST_F(SessionTest, LeasesExpireAndAreRenewedByUse) {
  Start(clock);
  const std::string rig = stubs().UploadTube();
  v1::CreateSessionRequest request = RequestFor(rig, "lbs");
  request.mutable_ttl()->set_seconds(1);
  v1::Session used, unused, renewed;
  EXPECT_CODE(stubs().Create(request, used), StatusCode::OK);
  EXPECT_CODE(stubs().Create(request, unused), StatusCode::OK);
  EXPECT_CODE(Renew(unused.name(), 0, renewed), StatusCode::OK);
  v1::DeformRequest deform;
  deform.mutable_target()->set_session(used.name());
  *deform.mutable_pose() = TubePose(1);
  for (int i = 0; i < 3; ++i) {
    v1::DeformResponse response;
    EXPECT_CODE(stubs().Deform(deform, response), StatusCode::OK);
    clock.Advance(std::chrono::milliseconds(600));
  }
  EXPECT_CODE(stubs().Get(used.name()), StatusCode::OK);
  EXPECT_CODE(stubs().Get(unused.name()), StatusCode::NOT_FOUND);
  EXPECT_CODE(Renew(unused.name(), 0, renewed), StatusCode::NOT_FOUND);
  EXPECT_CODE(Renew(used.name(), 50, renewed), StatusCode::OK);
  EXPECT_EQ(renewed.ttl().seconds(), 50);
}

TEST_F(SessionTest, OpenStreamKeepsSession) {
  Start(clock);
  v1::CreateSessionRequest request = RequestFor(stubs().UploadTube(), "lbs");
  request.mutable_ttl()->set_seconds(1);
  v1::Session session;
  EXPECT_CODE(stubs().Create(request, session), StatusCode::OK);
  Stream stream(stubs(), OpenFor(session.name()));
  EXPECT_EQ(stream.Opened().session(), session.name());
  for (int i = 0; i < 6; ++i) clock.Advance(std::chrono::milliseconds(300));
  EXPECT_CODE(stubs().Get(session.name()), StatusCode::OK);
}

TEST_F(SessionTest, StreamSurvivesPauseLongerThanLease) {
  Start(clock);
  v1::CreateSessionRequest request = RequestFor(stubs().UploadTube(), "lbs");
  request.mutable_ttl()->set_seconds(1);
  v1::Session session;
  EXPECT_CODE(stubs().Create(request, session), StatusCode::OK);
  Stream stream(stubs(), OpenFor(session.name()));
  EXPECT_EQ(stream.Opened().session(), session.name());
  clock.Advance(std::chrono::minutes(30));
  EXPECT_TRUE(stream.Send(TubePose(1)));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  EXPECT_CODE(stubs().Get(session.name()), StatusCode::OK);
}

TEST_F(SessionTest, DeletingCancelsBindAndEndsStreams) {
  config.binds.short_seconds = 0;  // all binds wait in one lane
  Start();
  const std::string rig = stubs().UploadTube(kSlowTube);
  const v1::Session slow = stubs().Create(rig, kSlowRecipe);
  const v1::Session fast = stubs().Create(rig, "lbs");
  EXPECT_EQ(fast.state(), v1::Session::STATE_BINDING);  // waits behind the slow one
  EXPECT_CODE(stubs().DeleteSession(slow.name()), StatusCode::OK);
  EXPECT_CODE(stubs().DeleteSession(slow.name()), StatusCode::NOT_FOUND);
  EXPECT_CODE(stubs().Get(slow.name()), StatusCode::NOT_FOUND);
  EXPECT_EQ(stubs().Watch(fast.name()).state(), v1::Session::STATE_READY);
  EXPECT_EQ(stubs().Stats().bound_entries(), 1u);

  Stream stream(stubs(), OpenFor(fast.name()));
  stream.Opened();
  EXPECT_CODE(stubs().DeleteSession(fast.name()), StatusCode::OK);
  EXPECT_CODE(stream.Finish(), StatusCode::NOT_FOUND);
}

TEST_F(SessionTest, CancelledStreamReleasesBind) {
  config.sessions.shared_ttl_seconds = 1;
  Start(clock);
  const std::string rig = stubs().UploadTube(kSlowTube);
  {
    Stream stream(stubs(), OpenRecipe(rig, kSlowRecipe));
    stubs().WaitFor(&v1::ServerStats::binds_running, 1);
    stubs().WaitFor(&v1::ServerStats::sessions, 1);  // its bind begins before it is listed
  }
  stubs().WaitFor(&v1::ServerStats::streams, 0);
  EXPECT_EQ(stubs().Stats().binds_running(), 1u);
  // The lease ends once the call has let go of the session, and with it a bind without waiters.
  WaitUntil([&] { return stubs().Stats().sessions() == 0; },
            [&] { clock.Advance(std::chrono::seconds(1)); });
  stubs().WaitFor(&v1::ServerStats::binds_running, 0);
  EXPECT_EQ(stubs().Stats().bound_entries(), 0u) << "the bind came to its end";
}

TEST_F(SessionTest, OtherWaiterKeepsBindAlive) {
  Start();
  const std::string rig = stubs().UploadTube(kSlowTube);
  const v1::Session first = stubs().Create(rig, "ddm(iterations=10)");
  const v1::Session second = stubs().Create(rig, "ddm(iterations=10)");
  EXPECT_CODE(stubs().DeleteSession(first.name()), StatusCode::OK);
  EXPECT_EQ(stubs().Watch(second.name()).state(), v1::Session::STATE_READY);
}

TEST_F(SessionTest, SessionOfFailedBindIsNotReady) {
  config.binds.seconds = 5;
  config.sessions.ttl_seconds = config.sessions.max_ttl_seconds;
  Start(clock);
  const v1::Session session = stubs().Create(stubs().UploadTube(kSlowTube), kSlowRecipe);
  ExceedBindTime();
  EXPECT_EQ(stubs().Watch(session.name()).state(), v1::Session::STATE_FAILED);
  v1::DeformRequest request;
  request.mutable_target()->set_session(session.name());
  *request.mutable_pose() = TubePose(1, 0, kSlowTube);
  v1::DeformResponse response;
  const grpc::Status refused = stubs().Deform(request, response);
  EXPECT_CODE(refused, StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(refused), "NOT_READY");
}

TEST_F(SessionTest, ListsInPages) {
  Start();
  const std::string rig = stubs().UploadTube();
  for (int i = 0; i < 3; ++i) stubs().Create(rig, "lbs");
  grpc::ClientContext first, second;
  v1::ListSessionsRequest request;
  request.set_page_size(2);
  v1::ListSessionsResponse page;
  EXPECT_CODE(stubs().sessions->ListSessions(&first, request, &page), StatusCode::OK);
  EXPECT_EQ(page.sessions_size(), 2);
  request.set_page_token(page.next_page_token());
  EXPECT_CODE(stubs().sessions->ListSessions(&second, request, &page), StatusCode::OK);
  EXPECT_EQ(page.sessions_size(), 1);
  EXPECT_EQ(page.next_page_token(), "");
}

TEST_F(SessionTest, DeletingEndsWatches) {
  Start();
  const v1::Session session = stubs().Create(stubs().UploadTube(kSlowTube), kSlowRecipe);
  grpc::ClientContext first_context, second_context;
  v1::WatchSessionRequest request;
  request.set_name(session.name());
  auto first = stubs().sessions->WatchSession(&first_context, request);
  v1::WatchSessionResponse response;
  ASSERT_TRUE(first->Read(&response));
  EXPECT_CODE(stubs().DeleteSession(session.name()), StatusCode::OK);
  while (first->Read(&response)) {
  }
  EXPECT_CODE(first->Finish(), StatusCode::NOT_FOUND);
  auto second = stubs().sessions->WatchSession(&second_context, request);
  EXPECT_FALSE(second->Read(&response));
  EXPECT_CODE(second->Finish(), StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace sinew::testing
