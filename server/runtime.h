// runtime.h - everything the services share: stores, caches, threads, limits. One a server; no
// globals.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "server/base/config.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/frames/evaluator.h"
#include "server/frames/frame_pool.h"
#include "server/store/deformer_cache.h"
#include "server/store/folder_lock.h"
#include "server/store/rig_store.h"
#include "server/store/session_table.h"
#include "server/store/upload_table.h"
#include "server/threads/arena.h"
#include "server/threads/concurrency_limit.h"
#include "server/threads/timers.h"
#include "server/threads/workers.h"

namespace sinew::server {

// An open call that lasts, as the rest of the server sees it. Calls come from the timer thread or
// from Drain.
class LiveStream {
 public:
  virtual ~LiveStream() = default;
  // Twice a second or more often: is the reader still there, does the session still live?
  virtual void Tick(std::chrono::steady_clock::time_point now) = 0;
  // The server drains: answer what is here, tell the client, end.
  virtual void Drain() = 0;
};

class Runtime {
 public:
  // Opens the stores. kFailedPrecondition: data_dir cannot be used, or another
  // server uses it.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const Config& config);
  ~Runtime();

  std::unique_ptr<FolderLock> data_lock;  // outlives all that writes under data_dir
  const Config config;
  const Log log;
  Metrics metrics;
  ConcurrencyLimit work;       // calls that a drain waits for; closed by it
  ConcurrencyLimit streams;    // StreamDeform
  ConcurrencyLimit deforms;    // Deform, DeformClip
  ConcurrencyLimit compares;   // CompareDeformers
  ConcurrencyLimit watches;    // WatchSession
  ConcurrencyLimit weights;    // ComputeWeights
  ConcurrencyLimit transfers;  // UploadRig, DownloadRig
  Timers timers;
  Arenas arenas;
  const std::shared_ptr<FramePool> frames;
  const EvaluatorContext evaluators;
  const std::shared_ptr<FramePool> comparisons;  // reservations alone: they starve no frames
  std::unique_ptr<RigStore> rigs;
  std::unique_ptr<UploadTable> uploads;
  std::unique_ptr<DeformerCache> bound;
  SessionTable sessions;
  Workers workers;

  void AddStream(const std::shared_ptr<LiveStream>& stream);
  // Closes `work` and tells every open stream; again: nothing.
  void Drain();
  v1::ServerStats Stats() const;

 private:
  explicit Runtime(const Config& config);
  void Tick();
  std::vector<std::shared_ptr<LiveStream>> LiveStreams();

  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::vector<std::weak_ptr<LiveStream>> live_;
};

}  // namespace sinew::server
