#include "server/shared/s3_store.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

TEST(S3Address, PutsTheBucketIntoTheHostOrThePath) {
  const S3Address aws = *ParseS3Address({.store = "s3://art/farm", .store_region = "eu-west-1"});
  EXPECT_EQ(aws.base, "https://art.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(aws.folder, "/farm/");
  EXPECT_EQ(aws.bucket_path, "/");
  const S3Address path = *ParseS3Address({.store = "s3://art/a/b/",
                                          .store_endpoint = "http://127.0.0.1:9000/",
                                          .store_path_style = true});
  EXPECT_EQ(path.base, "http://127.0.0.1:9000");
  EXPECT_EQ(path.folder, "/art/a/b/");
  EXPECT_EQ(path.prefix, "a/b/");
  EXPECT_EQ(path.bucket_path, "/art");
  EXPECT_EQ(ParseS3Address({.store = "s3://art"})->folder, "/");
}

TEST(S3Address, NamesTheOptionThatIsWrong) {
  const auto error = [](const SharedConfig& config) {
    return std::string(ParseS3Address(config).status().message());
  };
  for (const char* store : {"s3://", "s3://a b", "s3://art/x?y", "s3://art/x%2f", "s3:///x"}) {
    EXPECT_EQ(error({.store = store}).rfind("store: got \"", 0), 0u) << store;
  }
  for (const char* endpoint :
       {"host:9000", "ftp://host", "https://", "https://user@host", "https://host/path",
        "https://host:70000", "http://127.0.0.1:9000", "http://[::1]:9000"}) {
    EXPECT_EQ(error({.store = "s3://art", .store_endpoint = endpoint}).rfind("store-endpoint: ", 0),
              0u)
        << endpoint;
  }
  EXPECT_NE(error({.store = "s3://art", .store_endpoint = "http://127.0.0.1:9000"})
                .find("need --store-path-style or a name"),
            std::string::npos);
  EXPECT_EQ(error({.store = "s3://art",
                   .store_endpoint = "http://127.0.0.1:9000",
                   .store_path_style = true}),
            "");
  EXPECT_EQ(error({.store = "s3://art", .store_region = "a/b"}).rfind("store-region: ", 0), 0u);
}

TEST(AwsCredentials, ReadsTheDefaultProfile) {
  const AwsKeys keys = *ParseAwsCredentials(
      "# comment\n[other]\naws_access_key_id=no\naws_secret_access_key=no\n"
      "[default]\naws_access_key_id = id\naws_secret_access_key=se/cret+=\n"
      "aws_session_token = token\nregion = x\n[last]\naws_access_key_id=no\n");
  EXPECT_EQ(keys.id, "id");
  EXPECT_EQ(keys.secret, "se/cret+=");
  EXPECT_EQ(keys.session_token, "token");
}

TEST(AwsCredentials, RefusesFilesWithoutKeys) {
  for (const char* text : {"", "[default]\n", "[default]\naws_access_key_id=x\n",
                           "aws_access_key_id=x\naws_secret_access_key=y\n",
                           "[default]\naws_access_key_id=x\naws_secret_access_key=a b\n"}) {
    EXPECT_EQ(ParseAwsCredentials(text).status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(AwsCredentials, ReadsAFileAgainWhenItChanges) {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "keys";
  const AwsCredentials credentials(file);
  EXPECT_NE(credentials.Keys().status().message().find("store-credentials: "), std::string::npos);
  const auto write = [&](const std::string& id) {
    testing::WriteAll(file, "[default]\naws_access_key_id=" + id + "\naws_secret_access_key=s\n");
  };
  write("one");
  EXPECT_EQ(credentials.Keys()->id, "one");
  write("two");
  EXPECT_EQ(credentials.Keys()->id, "two");
}

TEST(S3Store, IsUnavailableWhereNothingListens) {
  const testing::TemporaryFolder folder;
  testing::WriteAll(folder / "keys", "[default]\naws_access_key_id=a\naws_secret_access_key=b\n");
  const auto store = *S3Store::Open({.store = "s3://art",
                                     .store_endpoint = "http://127.0.0.1:1",
                                     .store_path_style = true,
                                     .store_credentials = folder / "keys"});
  EXPECT_EQ(store->Get("x", 1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store->Put("x", "1").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store->List("x/", "", 1).status().code(), absl::StatusCode::kUnavailable);
}

// An S3 server that answers as a test says: what a real one cannot be made to say.
class S3Replies : public ::testing::Test {
 protected:
  S3Replies() {
    testing::WriteAll(folder_ / "keys",
                      "[default]\naws_access_key_id=a\naws_secret_access_key=b\n");
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      requests_.push_back(request.method + (request.has_header("if-none-match") ? " once" : ""));
      const auto& [status, code] = replies_[std::min(requests_.size(), replies_.size()) - 1];
      response.status = status;
      if (!code.empty()) {
        response.set_content("<Error><Code>" + code + "</Code></Error>", "application/xml");
      }
    };
    server_.Get(".*", answer);
    server_.Put(".*", answer);
    const int port = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    store_ = *S3Store::Open({.store = "s3://art",
                             .store_endpoint = "http://127.0.0.1:" + std::to_string(port),
                             .store_path_style = true,
                             .store_credentials = folder_ / "keys"});
  }
  ~S3Replies() override {
    server_.stop();
    thread_.join();
  }
  using Replies = std::vector<std::pair<int, std::string>>;
  absl::Status Get(Replies replies) {
    Begin(std::move(replies));
    return store_->Get("rigs/a", 9).status();
  }
  absl::Status Put(Replies replies) {
    Begin(std::move(replies));
    return store_->Put("rigs/a", "1");
  }
  void Begin(Replies replies) {
    replies_ = std::move(replies);
    requests_.clear();
  }

  const testing::TemporaryFolder folder_;
  httplib::Server server_;
  Replies replies_;
  std::vector<std::string> requests_;
  std::unique_ptr<ObjectStore> store_;
  std::thread thread_;
};

TEST_F(S3Replies, AreTakenForWhatTheyMean) {
  using Code = absl::StatusCode;
  EXPECT_EQ(Get({{404, "NoSuchKey"}}).code(), Code::kNotFound);
  EXPECT_EQ(Get({{404, "NoSuchBucket"}}).code(), Code::kPermissionDenied);
  EXPECT_EQ(Get({{400, "ExpiredToken"}}).code(), Code::kPermissionDenied);
  EXPECT_EQ(Get({{403, "AccessDenied"}}).code(), Code::kPermissionDenied);
  EXPECT_EQ(Get({{400, "InvalidRequest"}}).code(), Code::kInternal);
  EXPECT_EQ(Put({{404, ""}}).code(), Code::kUnavailable);
  EXPECT_EQ(Put({{404, "NoSuchBucket"}}).code(), Code::kPermissionDenied);
  EXPECT_TRUE(Put({{200, ""}}).ok());
  EXPECT_TRUE(Put({{412, "PreconditionFailed"}}).ok());
}

TEST_F(S3Replies, AreAskedForAgainIfThatMayHelp) {
  EXPECT_TRUE(Put({{503, "SlowDown"}, {200, ""}}).ok());
  EXPECT_TRUE(Put({{409, "ConditionalRequestConflict"}, {412, ""}}).ok());
  EXPECT_EQ(Put({{409, "ConditionalRequestConflict"}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(requests_.size(), 3u);
  EXPECT_EQ(Get({{500, "InternalError"}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(requests_.size(), 3u);
}

TEST_F(S3Replies, OfServersWithoutConditionalWritesAreRemembered) {
  EXPECT_TRUE(Put({{501, "NotImplemented"}, {200, ""}}).ok());
  EXPECT_EQ(requests_, (std::vector<std::string>{"PUT once", "PUT"}));
  EXPECT_TRUE(Put({{200, ""}}).ok());
  EXPECT_EQ(requests_, std::vector<std::string>{"PUT"});
}

}  // namespace
}  // namespace sinew::server
