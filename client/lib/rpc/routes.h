// routes.h - the metadata that lets a balancer send all calls about one rig to one server, which
// then binds it once. Any server answers any call: a route only saves work.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "sinew/v1/session_service.pb.h"

namespace sinew::client {

// The key of the metadata; its value is the SHA-256 of the rig as 64 hex digits.
inline constexpr char kRouteKey[] = "sinew-rig";

// The value for a rig's name; empty if it is none.
std::string RouteOfRig(const std::string& rig);

// The rigs of the sessions that a client has made. Thread-safe.
class Routes {
 public:
  void Remember(const std::string& session, const std::string& rig);
  // The value for a session's name; empty if another client has made it.
  std::string OfSession(const std::string& session) const;
  std::string Of(const v1::Target& target) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> rigs_;  // by session
  std::deque<std::string> order_;            // oldest first
};

}  // namespace sinew::client
