#include "server/threads/turns.h"

#include <optional>
#include <utility>

namespace sinew::server {

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

bool Turns::MustYield(const std::string& client) {
  const absl::MutexLock lock(&mutex_);
  const std::uint64_t held = places_.held(client);
  const std::size_t poorer = queue_.CountClients(
      [&](const Waiting& waiting) { return places_.held(waiting.client) + 1 < held; });
  if (poorer <= asked_) return false;
  ++asked_;
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
  {
    const absl::MutexLock lock(&mutex_);
    if (asked_ > 0) --asked_;
  }
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
