// heartbeat.h - keeps gRPC's callback threads awake while streams are open.
//
// In gRPC 1.51 these threads sleep for 100 ms after a second without events, and a pose that comes
// then waits for them. A tiny call through the in-process channel, more often than once a second,
// passes their queue; a grpc::Alarm does not.
#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>

#include "server/threads/timers.h"

namespace sinew::server {

class Heartbeat {
 public:
  // wanted: asked before every beat. Both must outlive this object.
  Heartbeat(Timers& timers, std::shared_ptr<grpc::Channel> channel, std::function<bool()> wanted);
  // No beat starts any more; returns once the last one is over.
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
