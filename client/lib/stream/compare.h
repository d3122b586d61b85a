// compare.h - a comparison in blocks: what Client::Compare and Character::Compare share.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "client/lib/rpc/connection.h"
#include "sinew/client.h"

namespace sinew::client {

// Makes what the server lost of the targets again and returns all targets, in order.
using RestoreTargets =
    std::function<absl::StatusOr<std::vector<Target>>(const std::stop_token& stop)>;

// Implements Client::Compare. Repeats a block after a break and, with `restore`, after a loss.
absl::StatusOr<std::vector<TargetMetrics>> Compare(
    Connection& connection, std::span<const Target> targets, const ClipPoses& poses,
    const CompareOptions& options, const RestoreTargets& restore, const CallOptions& call);

}  // namespace sinew::client
