#include "server/shared/aws_credentials.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cstdlib>

#include "core/base/status.h"
#include "server/base/files.h"

namespace sinew::server {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// They become headers of a request.
absl::Status CheckKeys(const AwsKeys& keys) {
  for (const std::string* text : {&keys.id, &keys.secret, &keys.session_token}) {
    for (const char c : *text) {
      if (c <= ' ' || c > '~') {
        return absl::InvalidArgumentError("a key has a character that is not printable ASCII");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AwsKeys> AwsCredentials::Keys() const {
  AwsKeys keys;
  if (!file_.empty()) {
    const absl::StatusOr<std::string> text = ReadPiece(file_, 0, kMostBytes);
    if (!text.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("store-credentials: ", text.status().message()));
    }
    absl::StatusOr<AwsKeys> parsed = ParseAwsCredentials(*text);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("store-credentials: ", file_, ": ", parsed.status().message()));
    }
    return parsed;
  }
  keys = {Variable("AWS_ACCESS_KEY_ID"), Variable("AWS_SECRET_ACCESS_KEY"),
          Variable("AWS_SESSION_TOKEN")};
  if (keys.id.empty() || keys.secret.empty()) {
    return absl::InvalidArgumentError(
        "store: needs keys, in --store-credentials or in the variables AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY");
  }
  if (const absl::Status status = CheckKeys(keys); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("store: ", status.message()));
  }
  return keys;
}

absl::StatusOr<AwsKeys> ParseAwsCredentials(const std::string& text) {
  AwsKeys keys;
  bool in_default = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      in_default = line == "[default]";
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(parts.first);
    const std::string value(absl::StripAsciiWhitespace(parts.second));
    if (!in_default) continue;
    if (name == "aws_access_key_id") keys.id = value;
    if (name == "aws_secret_access_key") keys.secret = value;
    if (name == "aws_session_token") keys.session_token = value;
  }
  if (keys.id.empty() || keys.secret.empty()) {
    return absl::InvalidArgumentError(
        "no aws_access_key_id and aws_secret_access_key in a section [default]");
  }
  SINEW_RETURN_IF_ERROR(CheckKeys(keys));
  return keys;
}

}  // namespace sinew::server
