// Two tenants on one server: neither can see, use or delete what the other holds.
#include <grpcpp/support/client_interceptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/access/tokens.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// Adds a token to every call of a channel.
class Authorize final : public grpc::experimental::Interceptor {
 public:
  explicit Authorize(std::string token) : token_(std::move(token)) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", "Bearer " + token_);
    }
    methods->Proceed();
  }

 private:
  const std::string token_;
};

class AuthorizeFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit AuthorizeFactory(std::string token) : token_(std::move(token)) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new Authorize(token_);
  }

 private:
  const std::string token_;
};

class TenantsTest : public ServerTest {
 protected:
  void SetUp() override {
    config.rigs.data_dir = folder_ / "data";
    config.access.token_file = folder_ / "tokens";
    const std::string film = AddToken("alice", R"(, "tenant": "film")"),
                      film_too = AddToken("bob", R"(, "tenant": "film")"),
                      game = AddToken("carol", R"(, "tenant": "game")"),
                      none = AddToken("dave", ""),
                      admin = AddToken("erin", R"(, "scopes": ["admin"])");
    WriteAll(config.access.token_file, lines_);
    Start();
    film_ = Connect(film);
    film_too_ = Connect(film_too);
    game_ = Connect(game);
    none_ = Connect(none);
    admin_ = Connect(admin);
  }

  TemporaryFolder folder_;
  // none_: of the default tenant.
  std::unique_ptr<Stubs> film_, film_too_, game_, none_, admin_;

 private:
  // Adds a line to the token file, with `more` at its end. Returns the token.
  std::string AddToken(const std::string& name, const std::string& more) {
    const auto made = server::MakeToken(name);
    EXPECT_TRUE(made.ok()) << made.status();
    std::string line = made->line;
    lines_ += line.insert(line.rfind('}'), more);
    return made->token;
  }
  std::unique_ptr<Stubs> Connect(const std::string& token) {
    std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
    factories.push_back(std::make_unique<AuthorizeFactory>(token));
    return std::make_unique<Stubs>(grpc::experimental::CreateCustomChannelWithInterceptors(
        server().addresses().front(), grpc::InsecureChannelCredentials(), {},
        std::move(factories)));
  }

  std::string lines_;
};

// What every method answers about a rig, as "code message" with the name cut out.
std::vector<std::string> AboutRig(Stubs& stubs, const std::string& name) {
  std::vector<std::string> answers;
  const auto note = [&](const grpc::Status& status) {
    std::string text = std::to_string(status.error_code()) + " " + status.error_message();
    if (const auto at = text.find(name); at != std::string::npos) text.erase(at, name.size());
    answers.push_back(text);
  };
  const auto call = [&](const auto& method, auto request, auto response) {
    grpc::ClientContext context;
    request.set_name(name);
    note(((*stubs.rigs).*method)(&context, request, &response));
  };
  call(&v1::RigService::Stub::GetRig, v1::GetRigRequest(), v1::GetRigResponse());
  call(&v1::RigService::Stub::DeleteRig, v1::DeleteRigRequest(), v1::DeleteRigResponse());
  {
    grpc::ClientContext context;
    v1::DownloadRigRequest request;
    request.set_name(name);
    v1::DownloadRigResponse piece;
    const auto reader = stubs.rigs->DownloadRig(&context, request);
    EXPECT_FALSE(reader->Read(&piece));
    note(reader->Finish());
  }
  {
    grpc::ClientContext context;
    v1::ComputeWeightsRequest request;
    request.set_rig(name);
    request.set_method(v1::WEIGHT_METHOD_HEAT);
    v1::ComputeWeightsResponse progress;
    const auto reader = stubs.rigs->ComputeWeights(&context, request);
    EXPECT_FALSE(reader->Read(&progress));
    note(reader->Finish());
  }
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(name);
  create.mutable_source()->set_recipe_text("lbs");
  v1::Session session;
  note(stubs.Create(create, session));
  v1::DeformRequest deform;
  *deform.mutable_target()->mutable_source() = create.source();
  *deform.mutable_pose() = TubePose(1);
  v1::DeformResponse deformed;
  note(stubs.Deform(deform, deformed));
  return answers;
}

TEST_F(TenantsTest, RigOfAnotherTenantLooksAbsent) {
  const std::string rig = film_->UploadTube();
  for (Stubs* other : {game_.get(), none_.get()}) {
    const std::vector<std::string> answers = AboutRig(*other, rig);
    EXPECT_EQ(answers, AboutRig(*other, "rigs/sha256-" + std::string(64, '0')));
    for (const std::string& answer : answers) {
      EXPECT_EQ(answer.rfind(std::to_string(StatusCode::NOT_FOUND) + " ", 0), 0u) << answer;
    }
  }
  grpc::ClientContext context;
  v1::ListRigsResponse page;
  EXPECT_CODE(game_->rigs->ListRigs(&context, {}, &page), StatusCode::OK);
  EXPECT_EQ(page.rigs_size(), 0);
  for (Stubs* own : {film_.get(), film_too_.get()}) {
    EXPECT_EQ(own->Watch(own->Create(rig, "lbs").name()).state(), v1::Session::STATE_READY);
  }
}

TEST_F(TenantsTest, PublishedStreamsBelongToATenant) {
  const auto watch = [](Stubs& stubs) {
    grpc::ClientContext context;
    v1::WatchStreamRequest request;
    request.set_name("hero");
    v1::WatchStreamResponse response;
    const auto reader = stubs.deforms->WatchStream(&context, request);
    if (!reader->Read(&response)) return reader->Finish();
    EXPECT_TRUE(response.has_opened());
    context.TryCancel();
    EXPECT_CODE(reader->Finish(), StatusCode::CANCELLED);
    return grpc::Status::OK;
  };
  v1::StreamOpen open = OpenRecipe(film_->UploadTube(), "lbs");
  open.set_publish("hero");
  Stream film(*film_, open);
  film.Opened();
  EXPECT_CODE(watch(*film_too_), StatusCode::OK);
  EXPECT_CODE(watch(*game_), StatusCode::NOT_FOUND);
  EXPECT_CODE(watch(*none_), StatusCode::NOT_FOUND);
  EXPECT_CODE(watch(*admin_), StatusCode::PERMISSION_DENIED);  // without sessions:use
  game_->UploadTube();
  Stream game(*game_, open);  // the name is free there
  game.Opened();
  EXPECT_CODE(watch(*game_), StatusCode::OK);
}

TEST_F(TenantsTest, FiguresOfOthersNeedAdmin) {
  film_->Create(film_->UploadTube(), "lbs");
  EXPECT_EQ(film_too_->Stats().rigs(), 1u);
  EXPECT_EQ(film_too_->Stats().sessions(), 1u);
  v1::ServerStats nothing;
  nothing.set_tenant_only(true);
  EXPECT_EQ(game_->Stats().SerializeAsString(), nothing.SerializeAsString());
  EXPECT_FALSE(admin_->Stats().tenant_only());
  EXPECT_EQ(admin_->Stats().rigs(), 1u);
  EXPECT_EQ(admin_->Stats().bound_entries(), 1u);
  const std::uint64_t bytes = admin_->Stats().rig_bytes();
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(film_->Stats().rig_bytes(), bytes);
}

TEST_F(TenantsTest, UploadOfAnothersRigIsWhole) {
  const std::string bytes = TubeRig().SerializeAsString();
  EXPECT_CODE(film_->Upload(bytes), StatusCode::OK);
  grpc::ClientContext ask;
  v1::UploadRigRequest header;
  v1::UploadRigResponse response;
  header.mutable_header()->set_sha256(Sha256Hex(bytes));
  header.mutable_header()->set_size_bytes(bytes.size());
  const auto writer = game_->rigs->UploadRig(&ask, &response);
  writer->Write(header);
  writer->WritesDone();
  EXPECT_CODE(writer->Finish(), StatusCode::OK);
  EXPECT_EQ(response.committed_bytes(), 0u);
  EXPECT_FALSE(response.has_rig());
  std::string name;
  EXPECT_CODE(game_->Upload(bytes, &name), StatusCode::OK);
  // Each has a rig and bound data of its own.
  for (Stubs* stubs : {film_.get(), game_.get()}) {
    EXPECT_EQ(stubs->Watch(stubs->Create(name, "lbs").name()).state(), v1::Session::STATE_READY);
  }
  EXPECT_EQ(admin_->Stats().bound_entries(), 2u);
  v1::DeleteRigRequest remove;
  remove.set_name(name);
  v1::DeleteRigResponse removed;
  grpc::ClientContext context, again;
  EXPECT_CODE(game_->rigs->DeleteRig(&context, remove, &removed), StatusCode::OK);
  v1::GetRigRequest get;
  get.set_name(name);
  v1::GetRigResponse got;
  EXPECT_CODE(film_->rigs->GetRig(&again, get, &got), StatusCode::OK);
}

TEST_F(TenantsTest, SessionOfAnotherTenantLooksAbsent) {
  const std::string rig = film_->UploadTube();
  EXPECT_EQ(game_->UploadTube(), rig);
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(rig);
  create.mutable_source()->set_recipe_text("lbs");
  create.set_request_id("mine");
  v1::Session session, other;
  ASSERT_CODE(film_->Create(create, session), StatusCode::OK);
  ASSERT_CODE(game_->Create(create, other), StatusCode::OK);
  EXPECT_NE(session.name(), other.name()) << "request ids are those of a tenant";
  EXPECT_CODE(game_->Get(session.name()), StatusCode::NOT_FOUND);
  const auto call = [&](const auto& method, auto request, auto response) {
    grpc::ClientContext context;
    request.set_name(session.name());
    EXPECT_CODE(((*game_->sessions).*method)(&context, request, &response), StatusCode::NOT_FOUND);
  };
  call(&v1::SessionService::Stub::RenewSession, v1::RenewSessionRequest(),
       v1::RenewSessionResponse());
  call(&v1::SessionService::Stub::DeleteSession, v1::DeleteSessionRequest(),
       v1::DeleteSessionResponse());
  {
    grpc::ClientContext context;
    v1::WatchSessionRequest request;
    request.set_name(session.name());
    v1::WatchSessionResponse response;
    const auto reader = game_->sessions->WatchSession(&context, request);
    EXPECT_FALSE(reader->Read(&response));
    EXPECT_CODE(reader->Finish(), StatusCode::NOT_FOUND);
  }
  EXPECT_CODE(Stream(*game_, OpenFor(session.name())).Finish(), StatusCode::NOT_FOUND);
  v1::DeformRequest deform;
  deform.mutable_target()->set_session(session.name());
  *deform.mutable_pose() = TubePose(1);
  v1::DeformResponse deformed;
  EXPECT_CODE(game_->Deform(deform, deformed), StatusCode::NOT_FOUND);
  v1::CompareDeformersRequest compare;
  compare.add_targets()->set_session(session.name());
  *compare.mutable_poses()->add_poses() = TubePose(1);
  v1::CompareDeformersResponse compared;
  grpc::ClientContext comparing, listing;
  const auto reader = game_->deforms->CompareDeformers(&comparing, compare);
  EXPECT_FALSE(reader->Read(&compared));
  EXPECT_CODE(reader->Finish(), StatusCode::NOT_FOUND);
  v1::ListSessionsResponse page;
  EXPECT_CODE(game_->sessions->ListSessions(&listing, {}, &page), StatusCode::OK);
  ASSERT_EQ(page.sessions_size(), 1);
  EXPECT_EQ(page.sessions(0).name(), other.name());
  EXPECT_CODE(film_->Deform(deform, deformed), StatusCode::OK);
}

// Two tenants with the same rig and recipe: what one has bound is nothing the other can notice, use
// or delete.
TEST_F(TenantsTest, EqualBindsAreApart) {
  constexpr TubeShape kShape{.rings = 200, .segments = 20, .joints = 20};
  const std::string recipe = "ddm(smoothing=explicit, lambda=1, iterations=200, truncation=0)";
  const std::string rig = film_->UploadTube(kShape);
  EXPECT_EQ(game_->UploadTube(kShape), rig);
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(rig);
  create.mutable_source()->set_recipe_text(recipe);
  v1::Session first, second, forecast;
  ASSERT_CODE(film_->Create(create, first), StatusCode::OK);
  first = film_->Watch(first.name());
  EXPECT_EQ(first.state(), v1::Session::STATE_READY);
  // The answer to the other is that of a rig that no client has bound, and so is the work.
  EXPECT_EQ(admin_->Stats().bound_entries(), 1u);
  create.set_validate_only(true);
  ASSERT_CODE(game_->Create(create, forecast), StatusCode::OK);
  EXPECT_NE(forecast.state(), v1::Session::STATE_READY);
  create.set_validate_only(false);
  ASSERT_CODE(game_->Create(create, second), StatusCode::OK);
  EXPECT_EQ(second.state(), v1::Session::STATE_BINDING);
  int messages = 0;
  second = game_->Watch(second.name(), &messages);
  EXPECT_GT(messages, 1) << "of its own bind";
  EXPECT_EQ(second.state(), v1::Session::STATE_READY);
  EXPECT_EQ(second.determinism_digest(), first.determinism_digest());
  EXPECT_EQ(game_->Stats().sessions(), 1u);
  const auto frame = [&](Stubs& stubs, const std::string& session) {
    v1::DeformRequest request;
    request.mutable_target()->set_session(session);
    *request.mutable_pose() = TubePose(1, 0.5f, kShape);
    v1::DeformResponse response;
    EXPECT_CODE(stubs.Deform(request, response), StatusCode::OK);
    return response.frame().positions();
  };
  const std::string bits = frame(*film_, first.name());
  EXPECT_SAME_BYTES(bits, frame(*game_, second.name()));
  // The other deletes all it has, and a third tenant has never had anything.
  const auto remove = [&](Stubs& stubs, const std::string& session) {
    grpc::ClientContext ending, deleting;
    v1::DeleteSessionRequest end;
    end.set_name(session);
    v1::DeleteSessionResponse ended;
    EXPECT_CODE(stubs.sessions->DeleteSession(&ending, end, &ended), StatusCode::OK);
    v1::DeleteRigRequest drop;
    drop.set_name(rig);
    v1::DeleteRigResponse dropped;
    EXPECT_CODE(stubs.rigs->DeleteRig(&deleting, drop, &dropped), StatusCode::OK);
  };
  remove(*game_, second.name());
  EXPECT_SAME_BYTES(bits, frame(*film_, first.name()));
  EXPECT_EQ(film_->Create(rig, recipe).state(), v1::Session::STATE_READY) << "still bound";
  v1::DeformRequest deform;
  *deform.mutable_target()->mutable_source() = create.source();
  *deform.mutable_pose() = TubePose(1, 0, kShape);
  v1::DeformResponse deformed;
  EXPECT_CODE(game_->Deform(deform, deformed), StatusCode::NOT_FOUND);
  EXPECT_CODE(none_->Deform(deform, deformed), StatusCode::NOT_FOUND);
}

// A Target with a recipe finds a session of the same tenant, never one of another.
TEST_F(TenantsTest, SharedSessionsAreThoseOfATenant) {
  const std::string rig = film_->UploadTube();
  EXPECT_EQ(game_->UploadTube(), rig);
  v1::DeformRequest request;
  request.mutable_target()->mutable_source()->set_rig(rig);
  request.mutable_target()->mutable_source()->set_recipe_text("lbs");
  *request.mutable_pose() = TubePose(1);
  const auto session = [&](Stubs& stubs) {
    v1::StreamOpen open;
    *open.mutable_target() = request.target();
    return Stream(stubs, open).Opened().session();
  };
  const std::string film = session(*film_), game = session(*game_);
  EXPECT_EQ(film, session(*film_too_));
  EXPECT_NE(film, game);
  EXPECT_CODE(game_->Get(film), StatusCode::NOT_FOUND);
  EXPECT_CODE(film_->Get(film), StatusCode::OK);
  EXPECT_EQ(film_->Stats().sessions(), 1u);
  EXPECT_EQ(admin_->Stats().sessions(), 2u);
}

TEST_F(TenantsTest, PageTokenOfAnotherTenantShowsNothing) {
  const std::string rig = film_->UploadTube();
  for (int k = 0; k < 3; ++k) film_->Create(rig, "lbs");
  film_->UploadTube({.rings = 10});
  v1::ListSessionsRequest sessions;
  sessions.set_page_size(1);
  v1::ListRigsRequest rigs;
  rigs.set_page_size(1);
  v1::ListSessionsResponse session_page;
  v1::ListRigsResponse rig_page;
  for (int hop = 0; hop < 2; ++hop) {
    Stubs& stubs = hop == 0 ? *film_ : *game_;
    grpc::ClientContext one, two;
    EXPECT_CODE(stubs.sessions->ListSessions(&one, sessions, &session_page), StatusCode::OK);
    EXPECT_CODE(stubs.rigs->ListRigs(&two, rigs, &rig_page), StatusCode::OK);
    EXPECT_EQ(session_page.sessions_size(), 1 - hop);
    EXPECT_EQ(rig_page.rigs_size(), 1 - hop);
    sessions.set_page_token(session_page.next_page_token());
    rigs.set_page_token(rig_page.next_page_token());
    EXPECT_EQ(sessions.page_token().empty(), hop == 1);
    EXPECT_EQ(rigs.page_token().empty(), hop == 1);
  }
}

// Messages of another's upload, sent again: they neither continue nor end it, and the name that
// they once made is not revived by a part of them.
TEST_F(TenantsTest, ReplayedUploadsServeOnlyTheirSender) {
  const std::string bytes = TubeRig().SerializeAsString();
  const std::size_t half = bytes.size() / 2;
  const auto send = [&](Stubs& stubs, std::size_t from, std::size_t to, std::uint64_t* committed) {
    grpc::ClientContext context;
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(Sha256Hex(bytes));
    request.mutable_header()->set_size_bytes(bytes.size());
    request.set_offset(from);
    request.set_data(bytes.substr(from, to - from));
    v1::UploadRigResponse response;
    const auto upload = stubs.rigs->UploadRig(&context, &response);
    upload->Write(request);
    upload->WritesDone();
    const grpc::Status status = upload->Finish();
    *committed = response.committed_bytes();
    return status;
  };
  std::uint64_t committed = 0;
  EXPECT_CODE(send(*film_, 0, half, &committed), StatusCode::OK);
  EXPECT_EQ(committed, half);
  for (Stubs* other : {game_.get(), none_.get(), admin_.get()}) {
    EXPECT_NE(send(*other, half, bytes.size(), &committed).error_code(), StatusCode::OK);
    v1::GetRigRequest get;
    get.set_name(RigNameOf(bytes));
    v1::GetRigResponse got;
    grpc::ClientContext context;
    EXPECT_NE(other->rigs->GetRig(&context, get, &got).error_code(), StatusCode::OK);
  }
  EXPECT_CODE(send(*film_, half, bytes.size(), &committed), StatusCode::OK);
  // All of it again changes nothing; after a delete a part of it makes no rig.
  EXPECT_CODE(film_->Upload(bytes), StatusCode::OK);
  EXPECT_EQ(film_->Stats().rigs(), 1u);
  grpc::ClientContext deleting;
  v1::DeleteRigRequest drop;
  drop.set_name(RigNameOf(bytes));
  v1::DeleteRigResponse dropped;
  EXPECT_CODE(film_->rigs->DeleteRig(&deleting, drop, &dropped), StatusCode::OK);
  EXPECT_NE(send(*film_, half, bytes.size(), &committed).error_code(), StatusCode::OK);
  EXPECT_EQ(film_->Stats().rigs(), 0u);
}

// A rig that another tenant has and one that does not exist cause the same work: no file or table
// of another tenant is looked at.
TEST_F(TenantsTest, AbsentTakesAsLongAsAnothers) {
  const std::string theirs = film_->UploadTube({.rings = 2000, .segments = 100});
  const std::string unknown = "rigs/sha256-" + std::string(64, '0');
  const auto time = [&](const std::string& name) {
    const auto start = std::chrono::steady_clock::now();
    grpc::ClientContext context;
    v1::GetRigRequest request;
    request.set_name(name);
    v1::GetRigResponse response;
    EXPECT_CODE(game_->rigs->GetRig(&context, request, &response), StatusCode::NOT_FOUND);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  };
  std::vector<double> one, other;
  for (int i = 0; i < 400; ++i) {  // in turns
    one.push_back(time(theirs));
    other.push_back(time(unknown));
  }
  std::ranges::sort(one);
  std::ranges::sort(other);
  const double difference = one[one.size() / 2] - other[other.size() / 2];
  std::printf("NOT_FOUND, median of 400: %.3f ms, %.3f ms\n", one[one.size() / 2],
              other[other.size() / 2]);
  // Reading 5 MB would take longer.
  EXPECT_LT(std::abs(difference), 0.5);
}

}  // namespace
}  // namespace sinew::testing
