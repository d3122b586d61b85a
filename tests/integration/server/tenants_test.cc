// Two tenants on one server: neither can see, use or delete what the other holds.
#include <grpcpp/support/client_interceptor.h>
#include <gtest/gtest.h>

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

TEST_F(TenantsTest, FiguresOfOthersNeedAdmin) {
  film_->Create(film_->UploadTube(), "lbs");
  EXPECT_EQ(film_too_->Stats().rigs(), 1u);
  EXPECT_EQ(film_too_->Stats().sessions(), 1u);
  EXPECT_EQ(game_->Stats().SerializeAsString(), "");
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

}  // namespace
}  // namespace sinew::testing
