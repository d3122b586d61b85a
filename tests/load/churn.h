// churn.h - what changes while streams run: uploads, deletes, computed weights, binds of new
// recipes, look-ups of all sessions. Each repeats at a steady, low rate on a connection of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "sinew/client.h"
#include "tests/load/cast.h"
#include "tests/load/report.h"
#include "tests/support/random.h"

namespace sinew::testing {

class Churn {
 public:
  Churn(Report& report, const std::string& address, const Cast& cast, std::uint32_t seed);
  // Before Start: binds new recipes without a pause.
  void BindNow(std::size_t count);
  void Start();
  // Deletes what it has uploaded.
  void Stop();
  ~Churn() { Stop(); }

  struct Counts {
    std::atomic<std::uint64_t> uploads{0}, deletes{0}, weights{0}, binds{0}, look_ups{0};
  };
  const Counts& counts() const { return counts_; }

 private:
  client::Client Connected() const;
  void UploadOne(const client::Client& client, Random& dice);
  void DeleteOldest(const client::Client& client);
  void ComputeOne(const client::Client& client, Random& dice);
  void BindOne(const client::Client& client, Random& dice);
  void LookUpOne(const client::Client& client, Random& dice);
  // A session of its own, ready; empty after an error.
  std::string Bound(const client::Client& client, const std::string& rig,
                    const std::string& recipe);
  const LoadSession& Choose(Random& dice) const;

  Report& report_;
  const std::string address_;
  const Cast& cast_;
  const std::uint32_t seed_;
  Counts counts_;
  std::deque<std::string> uploaded_;  // oldest first; used by one thread
  std::vector<std::jthread> threads_;
};

}  // namespace sinew::testing
