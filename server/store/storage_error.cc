#include "server/store/storage_error.h"

#include <absl/strings/str_cat.h>

#include <string>

#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {

absl::Status StorageError(const Log& log, std::string_view subject, const absl::Status& error) {
  log->error("{}: {}", subject, std::string(error.message()));
  if (absl::IsResourceExhausted(error)) {
    return WithRetry(absl::ResourceExhaustedError(
                         absl::StrCat(AbslView(subject), ": the disk of the server is full")),
                     absl::Seconds(10));
  }
  return absl::InternalError(
      absl::StrCat(AbslView(subject), ": the server cannot use its data folder"));
}

}  // namespace sinew::server
