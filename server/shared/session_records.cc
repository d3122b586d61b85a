#include "server/shared/session_records.h"

#include <utility>

#include "core/base/status.h"
#include "server/shared/authorities.h"
#include "server/shared/redis_client.h"
#include "server/shared/redis_records.h"

namespace sinew::server {

absl::StatusOr<std::unique_ptr<SessionRecords>> SessionRecords::Open(const SharedConfig& config,
                                                                     Log log) {
  if (!config.redis.empty()) {
    SINEW_RETURN_IF_ERROR(CheckAuthorities("redis-ca", config.redis_ca));
    SINEW_ASSIGN_OR_RETURN(auto redis, RedisClient::Create(config, std::move(log)));
    return std::make_unique<RedisRecords>(std::move(redis));
  }
  return nullptr;
}

}  // namespace sinew::server
