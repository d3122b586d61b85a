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

// Makes again what the server lost of the targets; all of them, in order.
using HealTargets = std::function<absl::StatusOr<std::vector<Target>>(const std::stop_token& stop)>;

// Mean and worst of the frames. Blocks are measured apart, so the server's summaries do not do.
void Summarise(TargetMetrics& target);

// As Client::Compare; repeats a block after a break and, with `heal`, after a loss.
absl::StatusOr<std::vector<TargetMetrics>> Compare(
    Connection& connection, std::span<const Target> targets, const PoseLayout& layout,
    const ClipPoses& poses, const CompareOptions& options, const CompareProgress& progress,
    const HealTargets& heal, const CallOptions& call);

}  // namespace sinew::client
