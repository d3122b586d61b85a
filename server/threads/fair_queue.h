// fair_queue.h - jobs that wait: clients take turns, and the jobs of one client keep their order.
//
// Not thread-safe: the owner locks it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace sinew::server {

template <class Job>
class FairQueue {
 public:
  using Ticket = std::uint64_t;

  // client: as Caller::client(). ticket: for Remove; unique among those waiting.
  void Push(Ticket ticket, const std::string& client, Job job) {
    const auto [found, added] = clients_.try_emplace(client);
    if (added) found->second.turn = turns_.insert(turns_.end(), found);
    std::list<Waiting>& jobs = found->second.jobs;
    places_.emplace(ticket, Place{found, jobs.insert(jobs.end(), {ticket, std::move(job)})});
  }

  // The next job, or none.
  std::optional<Job> Pop() {
    if (turns_.empty()) return std::nullopt;
    turns_.splice(turns_.end(), turns_, turns_.begin());  // its next turn comes after the others'
    return Remove(turns_.back()->second.jobs.front().ticket);
  }

  // The next job among the first ones of all clients that `wanted(job)` accepts, or none.
  template <class Wanted>
  std::optional<Job> PopIf(Wanted wanted) {
    for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
      const Waiting& first = (*turn)->second.jobs.front();
      if (!wanted(first.job)) continue;
      turns_.splice(turns_.end(), turns_, turn);
      return Remove(first.ticket);
    }
    return std::nullopt;
  }

  // How many clients have a first job that `accepts(job)` accepts.
  template <class Accepts>
  std::size_t CountClients(Accepts accepts) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        turns_, [&](const auto& client) { return accepts(client->second.jobs.front().job); }));
  }

  // Takes out the job of a ticket, if it waits here.
  std::optional<Job> Remove(Ticket ticket) {
    const auto found = places_.find(ticket);
    if (found == places_.end()) return std::nullopt;
    const auto [client, place] = found->second;
    std::optional<Job> job = std::move(place->job);
    places_.erase(found);
    client->second.jobs.erase(place);
    if (client->second.jobs.empty()) {
      turns_.erase(client->second.turn);
      clients_.erase(client);
    }
    return job;
  }

  std::size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }

 private:
  struct Waiting {
    Ticket ticket;
    Job job;
  };
  struct Client;
  using Clients = std::map<std::string, Client>;
  using Turns = std::list<typename Clients::iterator>;
  struct Client {
    std::list<Waiting> jobs;  // never empty
    typename Turns::iterator turn;
  };
  struct Place {
    typename Clients::iterator client;
    typename std::list<Waiting>::iterator job;
  };

  Clients clients_;
  Turns turns_;  // the next client first
  std::unordered_map<Ticket, Place> places_;
};

}  // namespace sinew::server
