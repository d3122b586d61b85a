// deform_clip.h - a clip through an ordered stream: what Client::DeformClip and
// Character::DeformClip share.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "sinew/client.h"

namespace sinew::client {

// Implements Client::DeformClip. `open` opens an ordered stream of the clip's target.
absl::Status DeformClip(const ClipPoses& poses, const ClipOptions& options, const ClipSink& sink,
                        absl::FunctionRef<absl::StatusOr<Stream>()> open, const CallOptions& call);

}  // namespace sinew::client
