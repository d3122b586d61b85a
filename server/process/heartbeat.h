// heartbeat.h - keeps gRPC's callback threads awake while streams are open.
//
// In gRPC 1.51 these threads sleep for 100 ms after a second without events, which delays a pose
// that arrives meanwhile. A small call through the in-process channel, more than once per second,
// prevents this; a grpc::Alarm does not, because it does not pass through their queue.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>

#include "server/threads/timers.h"

namespace sinew::server {

class Heartbeat {
 public:
  // wanted: called before every beat; no call is made if it returns false. It and `timers` must
  // outlive this object.
  Heartbeat(Timers& timers, std::shared_ptr<grpc::Channel> channel, std::function<bool()> wanted);
  // Stops the timer and waits for a running call.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  struct State;
  Timers& timers_;
  std::shared_ptr<State> state_;
  Timers::Id timer_;
};

}  // namespace sinew::server
