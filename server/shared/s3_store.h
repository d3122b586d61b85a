// s3_store.h - an ObjectStore in a bucket of S3, or of a server that speaks its protocol.
//
// Requests are signed with version 4; large objects are sent in parts. An object is written only if
// none has its name, where the server knows conditional writes. Sources: the API reference of
// Amazon S3; PutObject with If-None-Match is from 2024.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "server/shared/aws_credentials.h"
#include "server/shared/http_client.h"
#include "server/shared/object_store.h"

namespace sinew::server {

// What a request for an object is made of.
struct S3Address {
  std::string base;         // scheme and host: "https://bucket.s3.us-east-1.amazonaws.com"
  std::string folder;       // "/" or "/bucket/", then the prefix
  std::string prefix;       // of names in lists: "prefix/" or empty
  std::string bucket_path;  // of requests to the bucket: "/" or "/bucket"
};

// kInvalidArgument: names the option.
absl::StatusOr<S3Address> ParseS3Address(const SharedConfig& config);

class S3Store final : public ObjectStore {
 public:
  static absl::StatusOr<std::unique_ptr<ObjectStore>> Open(const SharedConfig& config);

  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) override;
  absl::Status Put(const std::string& name, std::string_view bytes) override;
  absl::StatusOr<bool> Has(const std::string& name) override;
  absl::Status Remove(const std::string& name) override;
  absl::StatusOr<std::vector<Object>> List(const std::string& prefix, const std::string& after,
                                           std::size_t count) override;
  std::string Describe() const override { return address_.base + address_.folder; }
  void Stop() override { http_.Stop(); }

 private:
  S3Store(const SharedConfig& config, S3Address address);
  absl::StatusOr<HttpClient::Reply> Send(HttpClient::Request request);
  absl::StatusOr<HttpClient::Reply> SendOnce(HttpClient::Request& request);
  std::string UrlOf(const std::string& name) const;
  absl::Status PutInParts(const std::string& name, std::string_view bytes);
  absl::StatusOr<std::string> PutPart(const std::string& url, const std::string& upload, int number,
                                      std::string_view part);

  const SharedConfig config_;
  const S3Address address_;
  const AwsCredentials credentials_;
  std::atomic<bool> conditional_{true};  // the server knows conditional writes, as far as is known
  HttpClient http_;
};

}  // namespace sinew::server
