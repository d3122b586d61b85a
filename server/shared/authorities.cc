#include "server/shared/authorities.h"

#include <absl/strings/str_cat.h>

#include "client/lib/base/pem.h"
#include "server/base/files.h"

namespace sinew::server {

absl::Status CheckAuthorities(absl::string_view option, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(option, ": ", text.status().message()));
  }
  const absl::Status status = CheckCertificate(*text);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", path, ": ", status.message()));
}

}  // namespace sinew::server
