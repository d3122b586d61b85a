#include "client/cli/base/exit_code.h"

#include <absl/strings/cord.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include "client/bake/base/errors.h"
#include "client/bake/character/joint_suggestion.h"
#include "client/bake/passes/bake_targets.h"
#include "client/cli/base/printable.h"
#include "client/cli/base/request_field.h"
#include "sinew/client.h"

namespace sinew::cli {
namespace {

constexpr char kHint[] = "sinew.cli/hint";

// gRPC's words for a call with more metadata, such as a token, than the server or a proxy accepts.
bool HasTooMuchMetadata(const absl::Status& status) {
  return absl::StrContains(status.message(), "metadata size exceeds");
}

// A named limit without a time to wait is one that patience does not lift.
bool IsHardLimit(const absl::Status& status) {
  if (HasTooMuchMetadata(status)) return true;
  const client::ErrorDetails details = client::Details(status);
  return !details.retry_delay && !details.limits.empty();
}

// How to proceed, or empty.
std::string Hint(const absl::Status& status, const std::string& command) {
  if (const auto hint = status.GetPayload(kHint)) return std::string(*hint);
  switch (ExitCode(status)) {
    case kExitUsage:
      return absl::StrCat("see `sinew ", command, command.empty() ? "" : " ", "--help`");
    case kExitUnavailable:
      if (absl::StrContains(status.message(), "certificate verify failed")) {
        return "name the authority of the server's certificate with --tls-ca";
      }
      if (absl::StrContains(status.message(), "Socket closed") ||
          absl::StrContains(status.message(), "Connection reset by peer")) {
        return "if the server uses TLS, add --tls-ca, and --tls-cert and --tls-key where it asks "
               "for a certificate";
      }
      if (absl::StrContains(status.message(), "a proxy in front of the server")) {
        return "the proxy may limit the size of a request, as nginx does (client_max_body_size): "
               "an upload or a stream is one request";
      }
      if (absl::StrContains(status.message(), "(through the proxy ")) {
        return "if the server is reached without the proxy, add its host to $no_proxy";
      }
      return "start a server with `sinewd`, name another with --server ADDR, or add --local to "
             "work without one";
    case kExitTemporary:
      return "this may pass: try again, or see `sinew stats --limits`";
    case kExitNotPermitted:
      if (absl::IsUnauthenticated(status)) {
        return "the server needs a valid token (--token-file or $SINEW_TOKEN_FILE) or client "
               "certificate (--tls-cert)";
      }
      return "the server at this address does not allow it for you";
    default:
      break;
  }
  if (absl::StrContains(status.message(), bake::kNoJoint)) {
    return "`sinew inspect FILE --joints` lists the joints";
  }
  if (absl::StrContains(status.message(), bake::kNoMesh)) {
    return "`sinew inspect FILE` lists the meshes";
  }
  if (HasTooMuchMetadata(status)) {
    return "the token is longer than the server accepts (max-token-bytes)";
  }
  if (absl::StrContains(status.message(), "got ',' at column") &&
      absl::StrContains(status.message(), "need '|'")) {
    return command == "bake" ? "give --deformer once for each recipe"
                             : "separate recipes by blanks";
  }
  if (absl::StrContains(status.message(), "a preset is no method")) {
    return "`sinew bind model:tube --local --dry-run --json --deformer PRESET` prints the JSON of "
           "a preset";
  }
  const std::string field = client::Details(status).field;
  if (absl::StrContains(status.message(), "--deformer: ")) return kRecipeHint;
  if (OptionForField(field, command) == "RIG") return "see `sinew rigs`, or `sinew upload FILE`";
  return IsRecipeField(field) ? kRecipeHint : "";
}

}  // namespace

absl::Status UsageError(const std::string& message) {
  return bake::RequestError(message);
}

absl::Status WithHint(absl::Status status, const std::string& hint) {
  if (!status.ok()) status.SetPayload(kHint, absl::Cord(hint));
  return status;
}

absl::Status NameOutput(const absl::Status& status, const std::string& option) {
  absl::string_view text = status.message();
  return absl::ConsumePrefix(&text, "out:")
             ? bake::Reworded(status, absl::StrCat(option, ":", text))
             : status;
}

int ExitCode(const absl::Status& status) {
  if (bake::IsRequestError(status)) return kExitUsage;
  if (bake::IsOutputError(status)) return kExitCannotWrite;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:  // asked for something this version does not have
    case absl::StatusCode::kDataLoss:       // the data are not what their checksum says
      return kExitBadInput;
    case absl::StatusCode::kResourceExhausted:
      return IsHardLimit(status) ? kExitBadInput : kExitTemporary;
    case absl::StatusCode::kUnavailable:
      return kExitUnavailable;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return kExitTemporary;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kExitNotPermitted;
    default:  // kInternal, kUnknown, and codes of a later version
      return kExitInternal;
  }
}

std::string ErrorText(const absl::Status& status, const std::string& command) {
  std::string message = NameOption({status.message().data(), status.message().size()},
                                   client::Details(status).field, command);
  if (message.empty()) message = absl::StatusCodeToString(status.code());
  std::string text = absl::StrCat("sinew: ", Printable(message), "\n");
  const std::string hint = Hint(status, command);
  if (!hint.empty()) absl::StrAppend(&text, "sinew: ", hint, "\n");
  return text;
}

}  // namespace sinew::cli
