#include "client/lib/rpc/routes.h"

#include <absl/strings/match.h>
#include <absl/strings/strip.h>

namespace sinew::client {
namespace {

constexpr char kRigPrefix[] = "rigs/sha256-";
constexpr std::size_t kDigits = 64;
constexpr std::size_t kMostSessions = 10'000;

}  // namespace

std::string RouteOfRig(const std::string& rig) {
  const absl::string_view digits = absl::StripPrefix(rig, kRigPrefix);
  const bool is_digest = digits.size() == kDigits && absl::StartsWith(rig, kRigPrefix) &&
                         digits.find_first_not_of("0123456789abcdef") == digits.npos;
  return is_digest ? std::string(digits) : std::string();
}

void Routes::Remember(const std::string& session, const std::string& rig) {
  const std::lock_guard lock(mutex_);
  if (!rigs_.emplace(session, RouteOfRig(rig)).second) return;
  order_.push_back(session);
  if (order_.size() <= kMostSessions) return;
  rigs_.erase(order_.front());
  order_.pop_front();
}

std::string Routes::OfSession(const std::string& session) const {
  const std::lock_guard lock(mutex_);
  const auto found = rigs_.find(session);
  return found == rigs_.end() ? std::string() : found->second;
}

std::string Routes::Of(const v1::Target& target) const {
  return target.has_source() ? RouteOfRig(target.source().rig()) : OfSession(target.session());
}

}  // namespace sinew::client
