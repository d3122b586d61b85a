// rig_key.h - which rig: its owner and the SHA-256 of its bytes.
//
// Tenants never share what is stored under a key: one that knows the digest of another's rig gets
// NOT_FOUND, or uploads the whole rig.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::server {

struct RigKey {
  std::string tenant;  // as Caller::tenant
  std::string hex;     // 64 hex digits

  // Unique; keys of one tenant are sorted by `hex` and share a prefix.
  std::string Text() const { return tenant + "/" + hex; }
};

// 64 lower-case hex digits.
bool IsDigest(const std::string& text);

// "rigs/sha256-<hex>" to the hex digits. kInvalidArgument names `field`.
absl::StatusOr<std::string> ParseRigName(const std::string& field, const std::string& name);
std::string RigName(const std::string& hex);

// kNotFound; the same for rigs that do not exist and those of another tenant.
absl::Status UnknownRig(const std::string& hex);

}  // namespace sinew::server
