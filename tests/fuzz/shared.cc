// shared.cc - what is read of other servers and of files: session names, names of objects,
// addresses, credentials. The first byte chooses.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "server/base/files.h"
#include "server/shared/aws_credentials.h"
#include "server/shared/redis_client.h"
#include "server/shared/s3_store.h"
#include "server/shared/signed_names.h"
#include "server/store/shared_rigs.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;

std::unique_ptr<server::SessionRecords> MakeNames() {
  const std::string path = "/tmp/sinew-fuzz-keys." + std::to_string(::getpid());
  fuzz::Require(server::WriteAtomically(path, std::string(32, 'k')).ok(), "a file of keys");
  auto names = *server::SignedNames::Open(path, std::make_shared<spdlog::logger>("fuzz"));
  server::RemoveQuietly(path);
  return names;
}

void ReadName(const std::string& text) {
  static server::SessionRecords& names = *MakeNames().release();
  fuzz::RequireRefusal(names.Find("acme", "sessions/" + text).status(),
                       {absl::StatusCode::kNotFound});
  // Whatever a record holds, its name leads to it.
  server::SessionRecord record{.source = {}, .request_id = {}, .ttl_ms = 1, .last_ms = 2};
  record.source.set_rig("rigs/" + std::to_string(text.size()));
  record.source.mutable_recipe_text()->assign(text.size(), 'x');
  const auto found = names.Find("acme", names.NewName("acme", record));
  fuzz::Require(text.size() > 8000 || (found.ok() && found->source.rig() == record.source.rig()),
                "the record of a name");
}

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
    case 0:
      ReadName(text);
      break;
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
