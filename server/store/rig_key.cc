#include "server/store/rig_key.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "server/base/printable.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr char kPrefix[] = "rigs/sha256-";

}  // namespace

bool IsDigest(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<std::string> ParseRigName(const std::string& field, const std::string& name) {
  if (!absl::StartsWith(name, kPrefix) || !IsDigest(name.substr(sizeof(kPrefix) - 1))) {
    return InvalidField(field, absl::StrCat("got \"", Printable(Shortened(name, 100)),
                                            "\", need rigs/sha256-<64 hex digits>"));
  }
  return name.substr(sizeof(kPrefix) - 1);
}

std::string RigName(const std::string& hex) {
  return kPrefix + hex;
}

absl::Status UnknownRig(const std::string& hex) {
  return absl::NotFoundError(absl::StrCat(RigName(hex), ": no such rig on this server"));
}

}  // namespace sinew::server
