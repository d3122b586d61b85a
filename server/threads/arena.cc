#include "server/threads/arena.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
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
  std::mutex mutex;
  std::condition_variable empty;
  std::size_t posted = 0;
};

Arenas::Arenas(std::size_t threads) : state_(std::make_unique<State>(threads)) {}

Arenas::~Arenas() {
  Wait();
}

void Arenas::Wait() {
  std::unique_lock lock(state_->mutex);
  state_->empty.wait(lock, [this] { return state_->posted == 0; });
}

void Arenas::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->posted;
  }
  auto held =
      std::make_shared<std::function<void()>>(std::move(work));  // enqueue calls a const copy
  state_->pose.enqueue([state = state_.get(), held = std::move(held)] {
    // Isolated: a frame that waits for its own loop must not pick up another frame.
    tbb::this_task_arena::isolate([&] { (*held)(); });
    *held = nullptr;  // what it holds may be the last reference to a call
    const std::lock_guard lock(state->mutex);
    if (--state->posted == 0) state->empty.notify_all();
  });
}

void Arenas::Bind(const std::function<void()>& work) {
  state_->bind.execute(work);
}

}  // namespace sinew::server
