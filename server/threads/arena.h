// arena.h - where frames and binds are computed; the only file of the server whose .cc knows
// oneTBB.
//
// Frames are enqueued into one arena. Binds run on a thread of their own that enters a second
// arena: an enqueued bind would hold the only worker and make poses wait for seconds.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace sinew::server {

class Arenas {
 public:
  explicit Arenas(std::size_t threads);
  // Waits for every posted frame.
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  // Runs `work` on a thread of the pose arena; it must not throw.
  void Post(std::function<void()> work);
  // Runs `work` in the calling thread, its loops on the bind arena; exceptions pass through.
  void Bind(const std::function<void()>& work);
  // Returns once nothing posted is left.
  void Wait();
  std::size_t posted() const;  // frames that wait or run

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinew::server
