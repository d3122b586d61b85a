#include "server/shared/http_client.h"

#include <absl/strings/str_cat.h>
#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace sinew::server {
namespace {

constexpr std::size_t kIdleHandles = 8;
constexpr std::uint64_t kSmallBytes = 4 << 20;
constexpr long kSlowest = 1024;                  // bytes a second; less is a stall
constexpr std::uint64_t kErrorBytes = 64 << 10;  // that are read of the body of an error

// What the callbacks of a transfer see.
struct Transfer {
  CURL* curl;
  const std::atomic<bool>& stopped;
  std::string_view rest;  // of the request's body
  std::uint64_t most_bytes;
  HttpClient::Reply& reply;
  bool too_large = false;
};

std::size_t SendSome(char* to, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  const std::size_t some = std::min(size * count, transfer.rest.size());
  std::memcpy(to, transfer.rest.data(), some);
  transfer.rest.remove_prefix(some);
  return some;
}

std::size_t TakeSome(char* from, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  long status = 0;
  curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
  const bool is_error = status != 200;
  if (transfer.reply.body.size() + size * count > (is_error ? kErrorBytes : transfer.most_bytes)) {
    if (is_error) return size * count;  // its beginning says enough
    transfer.too_large = true;
    return 0;
  }
  transfer.reply.body.append(from, size * count);
  return size * count;
}

int Continues(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(context)->stopped ? 1 : 0;
}

}  // namespace

void StartCurl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

absl::StatusOr<std::string> HostOf(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  char* text = nullptr;
  CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
  if (code == CURLUE_OK) code = curl_url_get(parsed.get(), CURLUPART_HOST, &text, 0);
  if (code != CURLUE_OK) return absl::InvalidArgumentError(curl_url_strerror(code));
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl_free);
  return std::string(text);
}

struct HttpClient::Handle {
  Handle() : curl(curl_easy_init()) {}
  ~Handle() { curl_easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  CURL* const curl;
};

HttpClient::HttpClient(Options options) : options_(std::move(options)) {
  StartCurl();
}
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Handle> HttpClient::Take() {
  const absl::MutexLock lock(&mutex_);
  if (idle_.empty()) return std::make_unique<Handle>();
  std::unique_ptr<Handle> handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

void HttpClient::Return(std::unique_ptr<Handle> handle) {
  curl_easy_reset(handle->curl);  // keeps its connections
  const absl::MutexLock lock(&mutex_);
  if (idle_.size() < kIdleHandles) idle_.push_back(std::move(handle));
}

absl::StatusOr<HttpClient::Reply> HttpClient::Send(const Request& request) {
  if (stopped_) return absl::UnavailableError("the server ends");
  std::unique_ptr<Handle> handle = Take();
  CURL* const curl = handle->curl;
  if (curl == nullptr) return absl::InternalError("no memory for a request");
  Reply reply;
  Transfer transfer{curl, stopped_, request.body, request.most_bytes, reply};
  const auto set = [curl](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
  char reason[CURL_ERROR_SIZE] = "";
  set(CURLOPT_ERRORBUFFER, reason);
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_seconds * 1000));
  const bool writes = request.method == "PUT" || request.method == "POST";
  const bool is_small = request.body.size() < kSmallBytes && request.most_bytes < kSmallBytes;
  if (is_small) set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.seconds * 1000));
  const double stall = writes ? options_.write_stall_seconds : options_.stall_seconds;
  set(CURLOPT_LOW_SPEED_LIMIT, kSlowest);
  set(CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(stall)));
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  set(CURLOPT_WRITEFUNCTION, TakeSome);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, Continues);
  set(CURLOPT_XFERINFODATA, &transfer);
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT") {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, SendSome);
    set(CURLOPT_READDATA, &transfer);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else if (request.method == "POST") {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.data());
  } else if (request.method != "GET") {
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  curl_slist* headers = nullptr;
  for (const std::string& header : request.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  set(CURLOPT_HTTPHEADER, headers);
  if (!request.signature.user.empty()) {
    set(CURLOPT_AWS_SIGV4, request.signature.scope.c_str());
    set(CURLOPT_USERNAME, request.signature.user.c_str());
    set(CURLOPT_PASSWORD, request.signature.secret.c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  curl_header* etag = nullptr;
  if (curl_easy_header(curl, "ETag", 0, CURLH_HEADER, -1, &etag) == CURLHE_OK) {
    reply.etag = etag->value;
  }
  curl_slist_free_all(headers);
  Return(std::move(handle));
  if (transfer.too_large) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the reply is larger than ", request.most_bytes, " bytes"));
  }
  if (code == CURLE_OK) return reply;
  return absl::UnavailableError(
      absl::StrCat(reason[0] != '\0' ? reason : curl_easy_strerror(code)));
}

std::string UrlEncoded(std::string_view text) {
  const std::unique_ptr<char, decltype(&curl_free)> encoded(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), &curl_free);
  return encoded == nullptr ? std::string() : encoded.get();
}

}  // namespace sinew::server
