// What a build without ufbx says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/import/fbx_reader.h"

namespace sinew::client {
namespace {

TEST(FbxMissing, MessageSaysHowToGetIt) {
  const absl::Status status = ReadFbx("Kaydara FBX Binary", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("run `deploy/install-deps.sh build`"));
}

}  // namespace
}  // namespace sinew::client
