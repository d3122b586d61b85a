// aws_credentials.h - the keys of an S3 server: from a file, which may change, or the environment.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <string>

namespace sinew::server {

struct AwsKeys {
  std::string id, secret;
  std::string session_token;  // of temporary keys, else empty
};

// Thread-safe.
class AwsCredentials {
 public:
  // file: empty = the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
  explicit AwsCredentials(std::string file) : file_(std::move(file)) {}

  // The keys now. A file is read each time: it is small, and whoever renews temporary keys replaces
  // it. kInvalidArgument: there are none.
  absl::StatusOr<AwsKeys> Keys() const;

 private:
  const std::string file_;
};

// The profile `default` of a file in the format of AWS's credentials file. kInvalidArgument.
absl::StatusOr<AwsKeys> ParseAwsCredentials(const std::string& text);

}  // namespace sinew::server
