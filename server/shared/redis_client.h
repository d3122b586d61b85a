// redis_client.h - commands to a Redis server over TCP, TLS or a Unix socket.
//
// libcurl connects (CURLOPT_CONNECT_ONLY), hiredis reads the protocol: Debian's hiredis has no TLS.
// While Redis is down, commands fail at once until Probe has reached it again.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/base/config.h"
#include "server/base/log.h"

namespace sinew::server {

struct RedisReply {
  enum class Kind { kNothing, kInteger, kText, kList, kError };
  Kind kind = Kind::kNothing;
  std::int64_t integer = 0;
  std::string text;  // also of an error
  std::vector<RedisReply> list;
};

// Where SharedConfig::redis is.
struct RedisAddress {
  std::string url;     // for libcurl: http:// or https://, host and port
  std::string socket;  // path of a Unix socket, or empty
  std::int64_t database = 0;
};
// kInvalidArgument.
absl::StatusOr<RedisAddress> ParseRedisAddress(const std::string& redis);

// Thread-safe.
class RedisClient {
 public:
  // Does not connect. kInvalidArgument: the address, or the file with the password cannot be read.
  static absl::StatusOr<std::unique_ptr<RedisClient>> Create(const SharedConfig& config, Log log);
  ~RedisClient();

  using Command = std::vector<std::string>;
  // Sends all commands at once and returns their replies, in order. They may run twice, if the
  // connection breaks. kUnavailable: no replies within a second or two, or Redis is starting.
  absl::StatusOr<std::vector<RedisReply>> Run(const std::vector<Command>& commands);
  // One command. kInternal: an error of Redis.
  absl::StatusOr<RedisReply> Run(const Command& command);

  bool up() const;
  // If it is down: tries to reach it. Call it every few seconds.
  void Probe();

 private:
  class Connection;
  RedisClient(RedisAddress address, const SharedConfig& config, Log log);
  absl::StatusOr<std::unique_ptr<Connection>> Connect() const;
  absl::StatusOr<std::vector<RedisReply>> TryRun(const std::string& bytes, std::size_t count);
  void SetDown(const absl::Status& status);

  const RedisAddress address_;
  const SharedConfig config_;
  const Log log_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
  bool down_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
