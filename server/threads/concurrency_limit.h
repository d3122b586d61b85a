// concurrency_limit.h - who may come in: bounded numbers of calls, and no new work while the server
// drains.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace sinew::server {

// Counts what runs of one kind, up to a limit. Thread-safe. Passes are given back when they are
// destroyed and must not outlive the gate.
class ConcurrencyLimit {
 public:
  // name: the limit's option; unit: what is counted.
  ConcurrencyLimit(std::uint64_t limit, std::string_view name, std::string_view unit)
      : limit_(limit), name_(name), unit_(unit) {}

  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept : gate_(other.gate_) { other.gate_ = nullptr; }
    Permit& operator=(Permit&& other) noexcept;
    ~Permit() { Return(); }

   private:
    friend class ConcurrencyLimit;
    explicit Permit(ConcurrencyLimit* gate) : gate_(gate) {}
    void Return();
    ConcurrencyLimit* gate_ = nullptr;
  };

  // kUnavailable after Close; kResourceExhausted at the limit.
  absl::StatusOr<Permit> Enter();

  void Close();
  bool closed() const;
  std::uint64_t count() const;
  // True once nothing is inside; waits up to `timeout` for that.
  bool WaitEmpty(std::chrono::milliseconds timeout);

 private:
  const std::uint64_t limit_;
  const std::string_view name_, unit_;
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::uint64_t count_ = 0;
  bool closed_ = false;
};

}  // namespace sinew::server
