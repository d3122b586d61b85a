#include "server/shared/redis_client.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <curl/curl.h>
#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/status.h"
#include "server/base/files.h"
#include "server/shared/http_client.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

constexpr long kConnectMilliseconds = 1000;
constexpr std::chrono::milliseconds kReplyTime{1500};
constexpr std::size_t kIdleConnections = 8;
constexpr int kMostNesting = 4;

void AppendCommand(const RedisClient::Command& command, std::string& bytes) {
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const std::string& word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* formatted = nullptr;
  const int size = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), words.data(),
                                          sizes.data());
  if (size > 0) bytes.append(formatted, static_cast<std::size_t>(size));
  if (formatted != nullptr) redisFreeCommand(formatted);
}

RedisReply FromHiredis(const redisReply& reply, int nesting = 0) {
  RedisReply result;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      result.kind = RedisReply::Kind::kInteger;
      result.integer = reply.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      result.kind = RedisReply::Kind::kText;
      result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
      break;
    case REDIS_REPLY_ERROR:
      result.kind = RedisReply::Kind::kError;
      result.text.assign(reply.str, static_cast<std::size_t>(reply.len));
      break;
    case REDIS_REPLY_ARRAY:
      result.kind = RedisReply::Kind::kList;
      for (std::size_t i = 0; i < reply.elements && nesting < kMostNesting; ++i) {
        result.list.push_back(FromHiredis(*reply.element[i], nesting + 1));
      }
      break;
    default:
      break;
  }
  return result;
}

// The password in the file, which may be replaced; empty without one. kInvalidArgument.
absl::StatusOr<std::string> ReadPassword(const SharedConfig& config) {
  if (config.redis_password_file.empty()) return std::string();
  const absl::StatusOr<std::string> text = ReadPiece(config.redis_password_file, 0, 4096);
  if (text.ok()) return std::string(absl::StripTrailingAsciiWhitespace(*text));
  return absl::InvalidArgumentError(absl::StrCat("redis-password-file: ", text.status().message()));
}

// Redis answers, but not for now, or not this server.
bool IsUnready(const RedisReply& reply) {
  static constexpr const char* kErrors[] = {"LOADING",     "READONLY", "MASTERDOWN",
                                            "CLUSTERDOWN", "NOAUTH",   "NOPERM",
                                            "OOM",         "MISCONF",  "DENIED"};
  return reply.kind == RedisReply::Kind::kError &&
         std::ranges::any_of(
             kErrors, [&](const char* error) { return absl::StartsWith(reply.text, error); });
}

}  // namespace

absl::StatusOr<RedisAddress> ParseRedisAddress(const std::string& redis) {
  // A password would be in the log.
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrContains(redis, "@")
          ? "redis: got a user or password in the URL, need them in --redis-user and "
            "--redis-password-file"
          : absl::StrCat("redis: got \"", redis,
                         "\", need redis://host:port/number, rediss://host:port/number or "
                         "unix:/path"));
  absl::string_view rest = redis;
  RedisAddress address;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (!absl::StartsWith(rest, "/")) return wrong;
    address.socket = std::string(rest);
    address.url = "http://localhost";
    return address;
  }
  const bool tls = absl::ConsumePrefix(&rest, "rediss://");
  if (!tls && !absl::ConsumePrefix(&rest, "redis://")) return wrong;
  const std::size_t slash = rest.find('/');
  if (slash != rest.npos) {
    const absl::string_view number = rest.substr(slash + 1);
    if (!number.empty() && (!absl::SimpleAtoi(number, &address.database) || address.database < 0 ||
                            address.database > 65'535)) {
      return wrong;
    }
    rest = rest.substr(0, slash);
  }
  for (const char c : rest) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("-_.:[]", c)) {
      return wrong;
    }
  }
  if (rest.empty() || rest[0] == ':') return wrong;
  const bool has_port =
      rest.find(':', rest.find(']') == rest.npos ? 0 : rest.find(']')) != rest.npos;
  address.url = absl::StrCat(tls ? "https://" : "http://", rest, has_port ? "" : ":6379");
  if (!HostOf(address.url).ok()) return wrong;
  return address;
}

// One connection; used by one thread at a time.
class RedisClient::Connection {
 public:
  Connection() : curl_(curl_easy_init()), reader_(redisReaderCreate()) {}
  ~Connection() {
    redisReaderFree(reader_);
    curl_easy_cleanup(curl_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  absl::Status Open(const RedisAddress& address, const std::string& ca_file) {
    if (curl_ == nullptr || reader_ == nullptr) return absl::InternalError("redis: no memory");
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl_, CURLOPT_URL, address.url.c_str());
    curl_easy_setopt(curl_, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_PROXY, "");
    curl_easy_setopt(curl_, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
    curl_easy_setopt(curl_, CURLOPT_TIMEOUT_MS, kConnectMilliseconds);
    if (!address.socket.empty()) {
      curl_easy_setopt(curl_, CURLOPT_UNIX_SOCKET_PATH, address.socket.c_str());
    }
    if (!ca_file.empty()) curl_easy_setopt(curl_, CURLOPT_CAINFO, ca_file.c_str());
    const CURLcode code = curl_easy_perform(curl_);
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, nullptr);
    if (code != CURLE_OK) {
      // curl speaks of a port of localhost, also where it has opened a socket.
      return absl::UnavailableError(
          address.socket.empty()
              ? absl::StrCat("redis: ", reason[0] != '\0' ? reason : curl_easy_strerror(code))
              : absl::StrCat("redis: cannot connect to ", address.socket));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<RedisReply>> Run(absl::string_view bytes, std::size_t count) {
    const Steady::time_point end = Steady::now() + kReplyTime;
    std::vector<RedisReply> replies;
    std::array<char, 16'384> buffer;
    while (replies.size() < count) {
      std::size_t moved = 0;
      if (!bytes.empty()) {
        const CURLcode sent = curl_easy_send(curl_, bytes.data(), bytes.size(), &moved);
        if (sent != CURLE_OK && sent != CURLE_AGAIN) return Broken(sent);
        bytes.remove_prefix(moved);
        if (!bytes.empty() && moved > 0) continue;
      }
      const CURLcode got = curl_easy_recv(curl_, buffer.data(), buffer.size(), &moved);
      if (got == CURLE_AGAIN) {
        SINEW_RETURN_IF_ERROR(Wait(!bytes.empty(), end));
        continue;
      }
      if (got != CURLE_OK) return Broken(got);
      if (moved == 0) return absl::UnavailableError("redis: the connection was closed");
      SINEW_RETURN_IF_ERROR(Read({buffer.data(), moved}, replies));
    }
    return replies;
  }

 private:
  static absl::Status Broken(CURLcode code) {
    return absl::UnavailableError(absl::StrCat("redis: ", curl_easy_strerror(code)));
  }

  absl::Status Wait(bool to_send, Steady::time_point end) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &socket);
    pollfd ready{socket, static_cast<short>(POLLIN | (to_send ? POLLOUT : 0)), 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now()).count();
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) == 0) {
      return absl::DeadlineExceededError("redis: no reply in time");
    }
    return absl::OkStatus();
  }

  absl::Status Read(std::string_view bytes, std::vector<RedisReply>& replies) {
    if (redisReaderFeed(reader_, bytes.data(), bytes.size()) != REDIS_OK) {
      return absl::UnavailableError("redis: got no Redis protocol");
    }
    void* reply = nullptr;
    do {
      if (redisReaderGetReply(reader_, &reply) != REDIS_OK) {
        return absl::UnavailableError("redis: got no Redis protocol");
      }
      if (reply == nullptr) break;
      replies.push_back(FromHiredis(*static_cast<redisReply*>(reply)));
      freeReplyObject(reply);
    } while (true);
    return absl::OkStatus();
  }

  CURL* const curl_;
  redisReader* const reader_;
};

absl::StatusOr<std::unique_ptr<RedisClient>> RedisClient::Create(const SharedConfig& config,
                                                                 Log log) {
  SINEW_ASSIGN_OR_RETURN(RedisAddress address, ParseRedisAddress(config.redis));
  SINEW_RETURN_IF_ERROR(ReadPassword(config).status());
  StartCurl();
  return std::unique_ptr<RedisClient>(new RedisClient(std::move(address), config, std::move(log)));
}

RedisClient::RedisClient(RedisAddress address, const SharedConfig& config, Log log)
    : address_(std::move(address)), config_(config), log_(std::move(log)) {}
RedisClient::~RedisClient() = default;

bool RedisClient::up() const {
  const absl::MutexLock lock(&mutex_);
  return !down_;
}

void RedisClient::SetDown(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  if (!down_) log_->error("{}; serving without it", std::string(status.message()));
  down_ = true;
  idle_.clear();
}

absl::StatusOr<std::unique_ptr<RedisClient::Connection>> RedisClient::Connect() const {
  auto connection = std::make_unique<Connection>();
  SINEW_RETURN_IF_ERROR(connection->Open(address_, config_.redis_ca));
  const absl::StatusOr<std::string> password = ReadPassword(config_);
  if (!password.ok()) return absl::UnavailableError(password.status().message());
  std::string bytes;
  std::size_t count = 0;
  if (!password->empty()) {
    Command auth{"AUTH"};
    if (!config_.redis_user.empty()) auth.push_back(config_.redis_user);
    auth.push_back(*password);
    AppendCommand(auth, bytes);
    ++count;
  }
  if (address_.database > 0) {
    AppendCommand({"SELECT", absl::StrCat(address_.database)}, bytes);
    ++count;
  }
  if (count == 0) return connection;
  const auto replies = connection->Run(bytes, count);
  if (!replies.ok()) return absl::UnavailableError(replies.status().message());
  for (const RedisReply& reply : *replies) {
    if (reply.kind == RedisReply::Kind::kError) {
      return absl::UnavailableError(absl::StrCat("redis: ", reply.text));
    }
  }
  return connection;
}

absl::StatusOr<std::vector<RedisReply>> RedisClient::TryRun(const std::string& bytes,
                                                            std::size_t count) {
  std::unique_ptr<Connection> connection;
  {
    const absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  absl::StatusOr<std::vector<RedisReply>> replies = absl::UnavailableError("redis: not connected");
  if (connection != nullptr) replies = connection->Run(bytes, count);
  if (absl::IsUnavailable(replies.status())) {  // the connection was too old
    SINEW_ASSIGN_OR_RETURN(connection, Connect());
    replies = connection->Run(bytes, count);
  }
  if (!replies.ok()) return absl::UnavailableError(replies.status().message());
  for (const RedisReply& reply : *replies) {
    if (IsUnready(reply)) return absl::UnavailableError(absl::StrCat("redis: ", reply.text));
  }
  const absl::MutexLock lock(&mutex_);
  if (idle_.size() < kIdleConnections) idle_.push_back(std::move(connection));
  return replies;
}

absl::StatusOr<std::vector<RedisReply>> RedisClient::Run(const std::vector<Command>& commands) {
  if (commands.empty()) return std::vector<RedisReply>();
  if (!up()) return absl::UnavailableError("redis: it is down");
  std::string bytes;
  for (const Command& command : commands) AppendCommand(command, bytes);
  absl::StatusOr<std::vector<RedisReply>> replies = TryRun(bytes, commands.size());
  if (absl::IsUnavailable(replies.status())) SetDown(replies.status());
  return replies;
}

void RedisClient::Probe() {
  if (up()) return;
  std::string bytes;
  AppendCommand({"PING"}, bytes);
  if (!TryRun(bytes, 1).ok()) return;
  const absl::MutexLock lock(&mutex_);
  down_ = false;
  log_->info("redis: reached again");
}

absl::StatusOr<RedisReply> RedisClient::Run(const Command& command) {
  SINEW_ASSIGN_OR_RETURN(auto replies, Run(std::vector<Command>{command}));
  RedisReply& reply = replies.front();
  if (reply.kind == RedisReply::Kind::kError) {
    return absl::InternalError(absl::StrCat("redis: ", command.front(), ": ", reply.text));
  }
  return std::move(reply);
}

}  // namespace sinew::server
