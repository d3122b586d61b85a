// scrubber.h - rereads what is stored, slowly, so that damage is found before the data is needed.
//
// A pass a day reads every rig and every file of bound data at a bounded rate, a piece at a time.
// Damaged files are moved aside, as when a call finds them. After a pass, old files that were moved
// aside are removed.
#pragma once

#include <absl/status/status.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

#include "core/base/digest.h"
#include "core/base/table_io.h"
#include "server/base/config.h"
#include "server/base/files.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/store/deformer_cache.h"
#include "server/store/rig_store.h"
#include "server/threads/timers.h"

namespace sinew::server {

class Scrubber {
 public:
  // Runs a function that reads a piece of a file on another thread; as Workers::Post.
  using Post = std::function<absl::Status(std::function<void()>)>;

  // The references must outlive the timers' and the other thread's calls.
  Scrubber(const ScrubConfig& config, RigStore& rigs, DeformerCache& bound, Timers& timers,
           Post post, Metrics& metrics, Log log);

  // Schedules the first pass. Call it once.
  void Start();

 private:
  struct File {
    std::filesystem::path path;
    std::optional<RigKey> rig;  // none: bound data
  };
  struct Reading {
    File file;
    Descriptor descriptor;
    std::variant<Sha256, TableChecksum> check;
  };

  // One step at a time is scheduled or running, so nothing here is locked.
  void StepAfter(std::chrono::nanoseconds delay);
  // Reads a piece; returns how long to wait before the next one.
  std::chrono::nanoseconds Step();
  void BeginPass();
  bool OpenNext();
  void Finish();
  void RemoveOldDamaged();

  const ScrubConfig config_;
  RigStore& rigs_;
  DeformerCache& bound_;
  Timers& timers_;
  const Post post_;
  Metrics& metrics_;
  const Log log_;
  std::optional<Clock::Time> pass_start_;  // set during a pass
  std::deque<File> files_;                 // still to be read
  std::optional<Reading> reading_;
};

}  // namespace sinew::server
