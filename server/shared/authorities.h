// authorities.h - files with certificates of authorities that other servers are verified by.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>

namespace sinew::server {

// kInvalidArgument, which names `option`: `path` is not a file that begins with a certificate in
// PEM. OK: an empty path.
absl::Status CheckAuthorities(absl::string_view option, const std::string& path);

}  // namespace sinew::server
