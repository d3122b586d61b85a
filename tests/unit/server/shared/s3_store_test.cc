#include "server/shared/s3_store.h"

#include <gtest/gtest.h>
#include <stdlib.h>

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
       {"host:9000", "ftp://host", "https://", "https://user@host", "https://host/path"}) {
    EXPECT_EQ(error({.store = "s3://art", .store_endpoint = endpoint}).rfind("store-endpoint: ", 0),
              0u)
        << endpoint;
  }
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

}  // namespace
}  // namespace sinew::server
