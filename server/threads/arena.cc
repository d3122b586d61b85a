#include "server/threads/arena.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>

namespace sinew::server {

// Posted work runs on workers only, so the pose arena needs all its threads from them; the bind
// arena brings its own first thread.
struct Arenas::State {
  explicit State(std::size_t threads)
      : bind_threads(std::max<std::size_t>(1, threads - 1)),
        limit(tbb::global_control::max_allowed_parallelism, threads + bind_threads + 1),
        pose(static_cast<int>(threads), 0),
        bind(static_cast<int>(bind_threads), 1) {}
  std::size_t bind_threads;
  tbb::global_control limit;
  tbb::task_arena pose, bind;
  absl::Mutex mutex;
  std::size_t posted ABSL_GUARDED_BY(mutex) = 0;
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return posted == 0; }
};

Arenas::Arenas(std::size_t threads) : state_(std::make_unique<State>(threads)) {}

Arenas::~Arenas() {
  Wait();
}

void Arenas::Wait() {
  const absl::MutexLock lock(&state_->mutex);
  state_->mutex.Await(absl::Condition(state_.get(), &State::Idle));
}

std::size_t Arenas::posted() const {
  const absl::MutexLock lock(&state_->mutex);
  return state_->posted;
}

void Arenas::Post(std::function<void()> work) {
  {
    const absl::MutexLock lock(&state_->mutex);
    ++state_->posted;
  }
  auto held =
      std::make_shared<std::function<void()>>(std::move(work));  // enqueue calls a const copy
  state_->pose.enqueue([state = state_.get(), held = std::move(held)] {
    // Isolated: a frame that waits for its own loop must not pick up another frame.
    tbb::this_task_arena::isolate([&] { (*held)(); });
    *held = nullptr;  // what it holds may be the last reference to a call
    const absl::MutexLock lock(&state->mutex);
    --state->posted;
  });
}

void Arenas::Bind(const std::function<void()>& work) {
  state_->bind.execute(work);
}

}  // namespace sinew::server
