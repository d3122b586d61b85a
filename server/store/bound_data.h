// bound_data.h - bound data as bytes, which hold their key so that they are used for no other rig,
// recipe or version, and back.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "core/deform/engine/deformer.h"
#include "core/rig/rig.h"
#include "server/store/rig_key.h"

namespace sinew::server {

// The key of bound data: "<tenant>/<rig's hex>/<digest of its content>/<determinism digest>". The
// content follows from the rig's bytes, unless a new version of the server reads them differently.
std::string BoundKey(const RigKey& name, const Rig& rig, const std::string& determinism_digest);
// The rig of a key.
RigKey RigOfBound(const std::string& key);

std::string EncodeBound(const std::string& key, const Deformer& deformer);
// kDataLoss: damaged, or of another key or rig.
absl::StatusOr<Deformer> DecodeBound(std::string_view bytes, const std::string& key,
                                     const Rig& rig);

}  // namespace sinew::server
