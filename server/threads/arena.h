// arena.h - where frames and binds are computed; the only file of the server whose .cc knows
// oneTBB.
//
// Every lane has threads of its own, so that long work of one lane never holds the last thread of
// another; the operating system shares the cores between them. Frames go before binds: the threads
// that call Bind have a lower priority, and while they compute, the kernel is made to look for
// ready threads more often (preemption_ticks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sinew::server {

class Arenas {
 public:
  using Ticket = std::uint64_t;  // never 0

  enum class Frames { kInteractive, kBatch };
  enum class Binds { kEstimates, kShort, kLong, kWeights };

  // How many threads it can have, with those of preemption_ticks.h.
  static std::size_t MostThreads(std::size_t threads);
  // threads: of each lane of frames.
  explicit Arenas(std::size_t threads);
  // Waits for every posted frame.
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // Runs `work` on a thread of the lane; it must not throw. As many run at a time as the lane has
  // threads; the rest waits, and clients take turns. client: as Caller::client().
  Ticket Post(Frames lane, const std::string& client, std::function<void()> work);
  // Drops work that still waits; else nothing happens.
  void Remove(Ticket ticket);
  // Runs `work` in the calling thread, its loops on the arena of the lane; exceptions pass through.
  // One thread at a time per lane. The calling thread keeps a lower priority.
  void Bind(Binds lane, const std::function<void()>& work);
  // Returns once nothing posted is left.
  void Wait();
  std::size_t posted() const;  // frames that wait or run

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinew::server
