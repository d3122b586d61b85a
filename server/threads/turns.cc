#include "server/threads/turns.h"

#include <optional>
#include <utility>

namespace sinew::server {
namespace {

constexpr std::chrono::seconds kAskAgain{1};

}  // namespace

Turns::Turn Turns::Take(const std::string& client, Begin begin) {
  const absl::MutexLock lock(&mutex_);
  // A client that waits has its share, or all places are taken: no turn is passed over for long.
  auto permit = places_.Take(client);
  if (permit.ok()) return {.place = MakePlace(*std::move(permit))};
  queue_.Push(++last_, client, {client, std::move(begin)});
  return {.place = nullptr, .ticket = last_};
}

bool Turns::Remove(Ticket ticket) {
  std::optional<Waiting> removed;  // freed after unlocking: may be the last reference to a call
  const absl::MutexLock lock(&mutex_);
  removed = queue_.Remove(ticket);
  return removed.has_value();
}

bool Turns::MustYield(const std::string& client, Clock::Time now) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(asked_, [&](Clock::Time time) { return now - time > kAskAgain; });
  const std::uint64_t held = places_.held(client);
  if (queue_.empty() || places_.count() < places_.limit() || held < places_.most_held()) {
    return false;
  }
  const std::size_t poorer = queue_.CountClients(
      [&](const Waiting& waiting) { return places_.held(waiting.client) + 1 < held; });
  if (poorer <= asked_.size()) return false;
  asked_.push_back(now);
  return true;
}

std::size_t Turns::waiting() const {
  const absl::MutexLock lock(&mutex_);
  return queue_.size();
}

Turns::Place Turns::MakePlace(Quota::Permit permit) {
  return Place(this, [permit = std::move(permit)](Turns* turns) mutable {
    permit.reset();
    turns->GiveOut();
  });
}

void Turns::GiveOut() {
  while (true) {
    std::optional<Waiting> next;
    Place place;
    {
      const absl::MutexLock lock(&mutex_);
      next = queue_.PopIf([&](const Waiting& waiting) {
        auto permit = places_.Take(waiting.client);
        if (permit.ok()) place = MakePlace(*std::move(permit));
        return permit.ok();
      });
    }
    if (!next) return;
    next->begin(std::move(place));
  }
}

}  // namespace sinew::server
