#include "server/shared/s3_store.h"

#include <absl/random/random.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>
#include <arpa/inet.h>

#include <algorithm>
#include <pugixml.hpp>
#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/shared/authorities.h"

namespace sinew::server {
namespace {

constexpr int kAttempts = 3;
constexpr absl::Duration kQuick = absl::Seconds(1);
constexpr std::size_t kPartBytes = 16 << 20;  // S3 allows 5 MiB to 5 GiB, and 10,000 of them
constexpr std::size_t kListRows = 1000;       // of one reply, as S3 has it
constexpr std::uint64_t kListBytes = 8 << 20;

bool IsSafe(absl::string_view text, absl::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(more, c);
  });
}

struct S3Error {
  std::string code, message;
};

// Code and message in an error's body; empty if there are none.
S3Error ErrorOf(const std::string& body) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) return {};
  const pugi::xml_node error = document.child("Error");
  return {error.child_value("Code"), std::string(error.child_value("Message")).substr(0, 200)};
}

bool IsOneOf(const std::string& code, std::initializer_list<const char*> codes) {
  return std::ranges::find(codes, code) != codes.end();
}

// The status alone says too little: S3 sends 400 for keys that have run out, and 404 for a bucket
// that does not exist.
absl::Status StatusOf(const std::string& what, const HttpClient::Reply& reply) {
  const S3Error error = ErrorOf(reply.body);
  const std::string text =
      absl::StrCat(what, ": HTTP status ", reply.status, error.code.empty() ? "" : " ", error.code,
                   error.message.empty() ? "" : ": ", error.message);
  if (IsOneOf(error.code, {"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "NoSuchBucket",
                           "RequestTimeTooSkewed"})) {
    return absl::PermissionDeniedError(text);
  }
  if (IsOneOf(error.code, {"RequestTimeout", "NoSuchUpload"})) return absl::UnavailableError(text);
  if (reply.status == 404) return absl::NotFoundError(text);
  if (reply.status == 401 || reply.status == 403) return absl::PermissionDeniedError(text);
  const bool for_now = reply.status >= 500 || reply.status == 429 || reply.status == 409;
  return for_now ? absl::UnavailableError(text) : absl::InternalError(text);
}

// Status of a write: nothing can be missing, so kNotFound becomes kUnavailable.
absl::Status WriteStatusOf(const std::string& what, const HttpClient::Reply& reply) {
  const absl::Status status = StatusOf(what, reply);
  return absl::IsNotFound(status) ? absl::UnavailableError(status.message()) : status;
}

bool IsTransient(const absl::StatusOr<HttpClient::Reply>& reply) {
  if (!reply.ok()) return absl::IsUnavailable(reply.status());
  return reply->status != 501 &&
         (reply->status >= 500 || reply->status == 429 || reply->status == 409);
}

bool IsNumeric(const std::string& host) {
  in_addr v4;
  return absl::StartsWith(host, "[") || ::inet_pton(AF_INET, host.c_str(), &v4) == 1;
}

std::int64_t SecondsOf(const char* iso_time) {
  absl::Time time;
  std::string error;
  return absl::ParseTime(absl::RFC3339_full, iso_time, &time, &error) ? absl::ToUnixSeconds(time)
                                                                      : 0;
}

}  // namespace

absl::StatusOr<S3Address> ParseS3Address(const SharedConfig& config) {
  absl::string_view rest = absl::StripPrefix(config.store, "s3://");
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const absl::string_view bucket = rest.substr(0, slash);
  absl::string_view prefix = rest.substr(slash);
  absl::ConsumePrefix(&prefix, "/");
  absl::ConsumeSuffix(&prefix, "/");
  if (!IsSafe(bucket, "-.") || !(prefix.empty() || IsSafe(prefix, "-_./"))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "store: got \"", config.store,
        "\", need s3://bucket or s3://bucket/prefix, of letters, digits, - and . (and _ and / in "
        "the prefix)"));
  }
  if (!IsSafe(config.store_region, "-")) {
    return absl::InvalidArgumentError(absl::StrCat("store-region: got \"", config.store_region,
                                                   "\", need letters, digits and -"));
  }
  const std::string endpoint =
      config.store_endpoint.empty()
          ? absl::StrCat("https://s3.", config.store_region, ".amazonaws.com")
          : std::string(absl::StripSuffix(config.store_endpoint, "/"));
  const std::size_t host = endpoint.find("://") + 3;
  if (!(absl::StartsWith(endpoint, "https://") || absl::StartsWith(endpoint, "http://")) ||
      !IsSafe(endpoint.substr(host), "-.:[]")) {
    return absl::InvalidArgumentError(absl::StrCat("store-endpoint: got \"", config.store_endpoint,
                                                   "\", need https://host:port"));
  }
  const absl::StatusOr<std::string> host_name = HostOf(endpoint);
  if (!host_name.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("store-endpoint: got \"", config.store_endpoint,
                                                   "\", ", host_name.status().message(),
                                                   "; need https://host:port"));
  }
  if (!config.store_path_style && IsNumeric(*host_name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("store-endpoint: got the address ", *host_name,
                     ", which cannot have a bucket before it; need --store-path-style or a name"));
  }
  S3Address address;
  address.prefix = prefix.empty() ? std::string() : absl::StrCat(prefix, "/");
  if (config.store_path_style) {
    address.base = endpoint;
    address.bucket_path = absl::StrCat("/", bucket);
    address.folder = absl::StrCat("/", bucket, "/", address.prefix);
  } else {
    address.base = absl::StrCat(endpoint.substr(0, host), bucket, ".", endpoint.substr(host));
    address.bucket_path = "/";
    address.folder = absl::StrCat("/", address.prefix);
  }
  return address;
}

absl::StatusOr<std::unique_ptr<ObjectStore>> S3Store::Open(const SharedConfig& config) {
  SINEW_ASSIGN_OR_RETURN(S3Address address, ParseS3Address(config));
  SINEW_RETURN_IF_ERROR(CheckAuthorities("store-ca", config.store_ca));
  std::unique_ptr<S3Store> store(new S3Store(config, std::move(address)));
  SINEW_RETURN_IF_ERROR(store->credentials_.Keys().status());
  return store;
}

S3Store::S3Store(const SharedConfig& config, S3Address address)
    : config_(config),
      address_(std::move(address)),
      credentials_(config.store_credentials),
      http_({.ca_file = config.store_ca, .seconds = config.store_seconds}) {}

std::string S3Store::UrlOf(const std::string& name) const {
  return absl::StrCat(address_.base, address_.folder, name);
}

absl::StatusOr<HttpClient::Reply> S3Store::SendOnce(HttpClient::Request& request) {
  SINEW_ASSIGN_OR_RETURN(const AwsKeys keys, credentials_.Keys());
  HttpClient::Request signed_request = request;
  signed_request.signature = {absl::StrCat("aws:amz:", config_.store_region, ":s3"), keys.id,
                              keys.secret};
  signed_request.headers.push_back("x-amz-content-sha256: " + Sha256Hex(request.body));
  if (!keys.session_token.empty()) {
    signed_request.headers.push_back("x-amz-security-token: " + keys.session_token);
  }
  return http_.Send(signed_request);
}

absl::StatusOr<HttpClient::Reply> S3Store::Send(HttpClient::Request request) {
  thread_local absl::BitGen random;
  for (int attempt = 1;; ++attempt) {
    const absl::Time start = absl::Now();
    absl::StatusOr<HttpClient::Reply> reply = SendOnce(request);
    // What has taken long is not repeated: others wait for this thread.
    if (!IsTransient(reply) || attempt == kAttempts || absl::Now() - start > kQuick) return reply;
    absl::SleepFor(absl::Milliseconds(50 << attempt) * absl::Uniform(random, 0.5, 1.5));
  }
}

absl::StatusOr<std::string> S3Store::Get(const std::string& name, std::uint64_t most_bytes) {
  SINEW_ASSIGN_OR_RETURN(HttpClient::Reply reply, Send({.method = "GET",
                                                        .url = UrlOf(name),
                                                        .headers = {},
                                                        .body = {},
                                                        .most_bytes = most_bytes}));
  if (reply.status == 200) return std::move(reply.body);
  return StatusOf(name, reply);
}

absl::Status S3Store::Put(const std::string& name, std::string_view bytes) {
  if (bytes.size() > 2 * kPartBytes) return PutInParts(name, bytes);
  HttpClient::Request request{.method = "PUT", .url = UrlOf(name), .headers = {}, .body = bytes};
  if (conditional_) request.headers = {"if-none-match: *"};
  SINEW_ASSIGN_OR_RETURN(HttpClient::Reply reply, Send(request));
  if (reply.status == 501 && conditional_.exchange(false)) {
    request.headers.clear();
    SINEW_ASSIGN_OR_RETURN(reply, Send(request));
  }
  if (reply.status == 200 || reply.status == 412) return absl::OkStatus();  // 412: it exists
  return WriteStatusOf(name, reply);
}

absl::StatusOr<std::string> S3Store::PutPart(const std::string& url, const std::string& upload,
                                             int number, std::string_view part) {
  SINEW_ASSIGN_OR_RETURN(
      const HttpClient::Reply reply,
      Send({.method = "PUT",
            .url = absl::StrCat(url, "?partNumber=", number, "&uploadId=", UrlEncoded(upload)),
            .headers = {},
            .body = part}));
  if (reply.status != 200) return WriteStatusOf("part of an upload", reply);
  if (reply.etag.empty()) return absl::InternalError("part of an upload: no ETag");
  return reply.etag;
}

absl::Status S3Store::PutInParts(const std::string& name, std::string_view bytes) {
  const std::string url = UrlOf(name);
  SINEW_ASSIGN_OR_RETURN(
      const HttpClient::Reply begun,
      Send({.method = "POST", .url = url + "?uploads=", .headers = {}, .body = {}}));
  pugi::xml_document document;
  document.load_buffer(begun.body.data(), begun.body.size());
  const std::string upload =
      document.child("InitiateMultipartUploadResult").child_value("UploadId");
  if (begun.status != 200 || upload.empty()) return WriteStatusOf(name, begun);
  const std::string upload_url = absl::StrCat(url, "?uploadId=", UrlEncoded(upload));

  std::string parts = "<CompleteMultipartUpload>";
  absl::Status status;
  for (int number = 1; status.ok() && !bytes.empty(); ++number) {
    const std::string_view part = bytes.substr(0, kPartBytes);
    bytes.remove_prefix(part.size());
    const absl::StatusOr<std::string> etag = PutPart(url, upload, number, part);
    status = etag.status();
    if (!etag.ok()) break;
    absl::StrAppend(&parts, "<Part><PartNumber>", number, "</PartNumber><ETag>", *etag,
                    "</ETag></Part>");
  }
  parts += "</CompleteMultipartUpload>";
  if (status.ok()) {
    const absl::StatusOr<HttpClient::Reply> done =
        Send({.method = "POST", .url = upload_url, .headers = {}, .body = parts});
    // A reply of 200 may hold an error: the server answers before it has joined the parts.
    if (done.ok() && done->status == 200 && ErrorOf(done->body).code.empty()) {
      return absl::OkStatus();
    }
    status = !done.ok() ? done.status()
             : done->status == 200
                 ? absl::UnavailableError(absl::StrCat(name, ": ", ErrorOf(done->body).code))
                 : WriteStatusOf(name, *done);
  }
  // Parts cost money until they are dropped.
  static_cast<void>(
      Send({.method = "DELETE", .url = upload_url, .headers = {}, .body = {}}).status());
  return status;
}

absl::StatusOr<bool> S3Store::Has(const std::string& name) {
  SINEW_ASSIGN_OR_RETURN(const HttpClient::Reply reply,
                         Send({.method = "HEAD", .url = UrlOf(name), .headers = {}, .body = {}}));
  if (reply.status == 200) return true;
  if (reply.status == 404) return false;
  return StatusOf(name, reply);
}

absl::Status S3Store::Remove(const std::string& name) {
  SINEW_ASSIGN_OR_RETURN(const HttpClient::Reply reply,
                         Send({.method = "DELETE", .url = UrlOf(name), .headers = {}, .body = {}}));
  if (reply.status == 200 || reply.status == 204 || reply.status == 404) return absl::OkStatus();
  return StatusOf(name, reply);
}

absl::StatusOr<std::vector<ObjectStore::Object>> S3Store::List(const std::string& prefix,
                                                               const std::string& after,
                                                               std::size_t count) {
  std::vector<Object> found;
  std::string last = after;
  while (found.size() < count) {
    // In the order of their names, as the signature needs them.
    std::string query =
        absl::StrCat("?list-type=2&max-keys=", std::min(kListRows, count - found.size()),
                     "&prefix=", UrlEncoded(address_.prefix + prefix));
    if (!last.empty()) absl::StrAppend(&query, "&start-after=", UrlEncoded(address_.prefix + last));
    SINEW_ASSIGN_OR_RETURN(const HttpClient::Reply reply,
                           Send({.method = "GET",
                                 .url = absl::StrCat(address_.base, address_.bucket_path, query),
                                 .headers = {},
                                 .body = {},
                                 .most_bytes = kListBytes}));
    if (reply.status != 200) return StatusOf(prefix, reply);
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(reply.body.data(), reply.body.size());
    const pugi::xml_node list = document.child("ListBucketResult");
    if (!parsed || !list) return absl::InternalError(absl::StrCat(prefix, ": not a list"));
    const std::size_t before = found.size();
    for (const pugi::xml_node row : list.children("Contents")) {
      absl::string_view key = row.child_value("Key");
      if (!absl::ConsumePrefix(&key, address_.prefix)) continue;
      found.push_back({std::string(key), row.child("Size").text().as_ullong(),
                       SecondsOf(row.child_value("LastModified"))});
    }
    if (found.size() == before || !list.child("IsTruncated").text().as_bool()) break;
    last = found.back().name;
  }
  return found;
}

}  // namespace sinew::server
