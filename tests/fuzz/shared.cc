// shared.cc - what is read of other servers and of files: names of objects, addresses, credentials.
// The first byte chooses.
#include <string>

#include "server/shared/aws_credentials.h"
#include "server/shared/redis_client.h"
#include "server/shared/s3_store.h"
#include "server/store/shared_rigs.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;

void ReadS3(const std::string& text) {
  const auto address =
      server::ParseS3Address({.store = "s3://bucket/" + text, .store_endpoint = {}});
  if (!address.ok()) fuzz::RequireRefusal(address.status());
  const auto other = server::ParseS3Address({.store = "s3://bucket", .store_endpoint = text});
  if (!other.ok()) fuzz::RequireRefusal(other.status());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(fuzz::Text(data + 1, size - 1));
  switch (data[0] % 5) {
    case 1:
      if (const auto rig = server::RigOfDeleted(text)) {
        fuzz::Require(server::DeletedName(*rig) == text, "the name of a mark");
      }
      break;
    case 2:
      if (const auto keys = server::ParseAwsCredentials(text); !keys.ok()) {
        fuzz::RequireRefusal(keys.status());
      }
      break;
    case 3:
      if (const auto redis = server::ParseRedisAddress(text); !redis.ok()) {
        fuzz::RequireRefusal(redis.status());
      }
      break;
    default:
      ReadS3(text);
  }
  return 0;
}
