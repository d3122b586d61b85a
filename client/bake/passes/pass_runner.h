// pass_runner.h - one pass of frames from the server to its caches: whole, or in parts that an
// interrupted run leaves for the next one.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "client/bake/base/monitor.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/passes/bake_plan.h"
#include "sinew/client.h"

namespace sinew::bake {

// What a pass has done so far, also one that failed.
struct Baked {
  bool current = false;      // the caches were there already
  std::size_t kept = 0;      // frames that an earlier run has baked
  std::size_t received = 0;  // frames of this run
  std::size_t finished = 0;  // of these, frames in complete files
  std::uint64_t bytes = 0;   // of all caches of the pass
  absl::Duration elapsed;
  Manifest manifest = {};
};

// The character of the pass, bound when it is first needed.
using BoundSource = std::function<absl::StatusOr<client::Character>()>;

// Not thread-safe. What it refers to must outlive it.
class PassRunner {
 public:
  // `origin`: ManifestOf a validated session, needed by parts.resume and FindWork.
  PassRunner(const Monitor& monitor, const PassInput& in, const PartsRequest& parts,
             const std::optional<Manifest>& origin, BoundSource bind);

  // What is left to do; changes nothing.
  //   RequestError or kInvalidArgument: frames or meshes that the format cannot hold. OutputError:
  //   a place that cannot be written, which is better known hours before.
  absl::StatusOr<BakePlan::Missing> FindWork();

  // Bakes what is left, joins parts and removes those that are joined or out of date. Files appear
  // complete or not at all. Errors of FindWork, of `bind`, and of StreamSamples.
  absl::Status Run();

  const Baked& baked() const { return baked_; }

 private:
  absl::Status RunOnce();
  absl::Status CheckTargets() const;
  absl::Status Deform(const Chunks& chunks);
  absl::Status Join();
  void RemoveLeftOver();  // parts, where the caches are current
  bool joins() const { return parts_.enabled() && !parts_.only; }

  const Monitor& monitor_;
  const PassInput& in_;
  const PartsRequest& parts_;
  const BoundSource bind_;
  std::optional<BakePlan> plan_;
  Baked baked_;
};

// The whole frames that a pass bakes: with a shutter, those that the samples belong to.
CacheInfo FramesOfPass(const PassInput& in);

}  // namespace sinew::bake
