#include "server/threads/arena.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <sys/resource.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "server/base/thread_name.h"
#include "server/threads/fair_queue.h"
#include "server/threads/preemption_ticks.h"

namespace sinew::server {
namespace {

using Work = std::function<void()>;

// Threads of the arenas besides those that call Bind.
struct Threads {
  explicit Threads(std::size_t count) : frames(count), bind(std::max<std::size_t>(1, count - 1)) {}
  std::size_t frames, bind;
  // So many that every arena can be full.
  std::size_t all() const { return 2 * frames + 4 * bind; }
};

// Beside a thread of the normal priority that never sleeps, a bind gets a tenth of the core, so it
// also ends on a server whose cores are busy with frames.
constexpr int kNice = 10;

// Lowers the priority of the calling thread for good: only a privileged process may raise it again.
bool LowerPriority() {
  // Not its own, which it may have from a thread that binds.
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid()));
  const auto thread = static_cast<id_t>(::gettid());
  return ::setpriority(PRIO_PROCESS, thread, std::min(19, nice + kNice)) == 0;
}

// Posted work runs on workers only, so an arena of frames needs all its threads from them.
struct FrameArena {
  explicit FrameArena(std::size_t count) : threads(count), arena(static_cast<int>(count), 0) {}
  const std::size_t threads;
  tbb::task_arena arena;
  FairQueue<Work> waiting;
  std::size_t running = 0;  // loops over `waiting`
};

}  // namespace

struct Arenas::State {
  explicit State(const Threads& threads)
      : limit(tbb::global_control::max_allowed_parallelism, threads.all() + 1),
        frames{FrameArena(threads.frames), FrameArena(threads.frames)},
        // The thread that calls Bind has a place in its arena.
        binds{tbb::task_arena(static_cast<int>(threads.bind), 1),
              tbb::task_arena(static_cast<int>(threads.bind), 1),
              tbb::task_arena(static_cast<int>(threads.bind), 1),
              tbb::task_arena(static_cast<int>(threads.bind), 1)},
        ticks(threads.frames) {}
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(mutex) {
    return std::ranges::all_of(frames, [](const FrameArena& lane) { return lane.running == 0; });
  }
  // Runs what waits until nothing does.
  void Run(FrameArena& lane);

  const pid_t process = ::getpid();
  tbb::global_control limit;
  absl::Mutex mutex;  // of what waits and runs
  std::array<FrameArena, 2> frames;
  Ticket last ABSL_GUARDED_BY(mutex) = 0;
  std::array<tbb::task_arena, 4> binds;
  PreemptionTicks ticks;  // while binds compute
};

void Arenas::State::Run(FrameArena& lane) {
  // In a child of a process that was forked, oneTBB's queue still holds tasks of the parent, and
  // threads that the child starts for other work take them. This one belongs to the parent.
  if (::getpid() != process) return;
  NameThread("frames");
  const absl::MutexLock lock(&mutex);
  while (std::optional<Work> work = lane.waiting.Pop()) {
    mutex.Unlock();
    // Isolated: a frame that waits for its own loop must not pick up another frame.
    tbb::this_task_arena::isolate(*work);
    work.reset();  // what it holds may be the last reference to a call
    mutex.Lock();
  }
  --lane.running;
}

std::size_t Arenas::MostThreads(std::size_t threads) {
  return Threads(threads).all() + threads;
}

Arenas::Arenas(std::size_t threads) : state_(std::make_unique<State>(Threads(threads))) {}

Arenas::~Arenas() {
  Wait();
}

void Arenas::Wait() {
  const absl::MutexLock lock(&state_->mutex);
  state_->mutex.Await(absl::Condition(state_.get(), &State::Idle));
}

std::size_t Arenas::posted() const {
  const absl::MutexLock lock(&state_->mutex);
  std::size_t posted = 0;
  for (const FrameArena& lane : state_->frames) posted += lane.running + lane.waiting.size();
  return posted;
}

Arenas::Ticket Arenas::Post(Frames lane, const std::string& client, Work work) {
  FrameArena& arena = state_->frames[static_cast<std::size_t>(lane)];
  Ticket ticket = 0;
  {
    const absl::MutexLock lock(&state_->mutex);
    ticket = ++state_->last;
    arena.waiting.Push(ticket, client, std::move(work));
    if (arena.running == arena.threads) return ticket;
    ++arena.running;
  }
  arena.arena.enqueue([state = state_.get(), &arena] { state->Run(arena); });
  return ticket;
}

void Arenas::Remove(Ticket ticket) {
  std::optional<Work> removed;  // freed after unlocking: may be the last reference to a call
  const absl::MutexLock lock(&state_->mutex);
  for (FrameArena& lane : state_->frames) {
    if (!removed) removed = lane.waiting.Remove(ticket);
  }
}

void Arenas::Bind(Binds lane, const Work& work) {
  // First, as threads inherit the priority of the one that starts them.
  const PreemptionTicks::Scope long_work(state_->ticks);
  [[maybe_unused]] thread_local const bool lowered = LowerPriority();
  state_->binds[static_cast<std::size_t>(lane)].execute(work);
}

}  // namespace sinew::server
