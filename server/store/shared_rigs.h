// shared_rigs.h - rigs and what is derived from them as objects of the shared store.
//
//   rigs/HEX                  the rig's bytes, as uploaded
//   bound/HEX/DIGEST-VERSION  bound data of that rig
//   tenants/TENANT/...        the same of a tenant
//   deleted/[TENANT.]HEX      the rig was deleted: other servers drop what they have fetched
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "server/shared/shared_store.h"
#include "server/store/rig_key.h"

namespace sinew::server {

std::string SharedRigName(const RigKey& key);
std::string SharedRigFolder(const std::string& tenant);
std::string SharedBoundFolder(const RigKey& key);

// Reads a rig and verifies it. kNotFound: there is none, or it was damaged and has been removed;
// kUnavailable, with RetryInfo: the store cannot be reached; kResourceExhausted: more than
// `most_bytes`.
absl::StatusOr<std::string> ReadSharedRig(SharedStore& shared, const RigKey& key,
                                          std::uint64_t most_bytes, const Log& log);

// Removes a rig with its bound data and leaves the mark that it was deleted, if it was there or
// this server has it: `known`. Whether it was there. kUnavailable: the store cannot be reached, and
// nothing is certain.
absl::StatusOr<bool> DeleteShared(SharedStore& shared, const RigKey& key, bool known);

inline constexpr char kDeletedFolder[] = "deleted/";
std::string DeletedName(const RigKey& key);
// The rig of a mark, or nothing if the name is not one of ours.
std::optional<RigKey> RigOfDeleted(const std::string& name);

}  // namespace sinew::server
