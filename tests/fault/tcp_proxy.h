// tcp_proxy.h - a proxy between clients and a server that delays, slows down, freezes and resets
// connections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace sinew::testing {

// Listens on a loopback port of its own. One thread; the functions may be called from any other.
class TcpProxy {
 public:
  explicit TcpProxy(const std::string& target);  // "127.0.0.1:PORT"
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  const std::string& address() const { return address_; }

  // For all connections, from now on:
  void Delay(std::chrono::microseconds delay);  // of every byte, each way
  void Throttle(std::size_t bytes_per_second);  // to each client; 0 = no limit
  void HoldReplies(bool hold);                  // reads nothing from the server
  // For the connections of now:
  void Reset();                        // RST to both sides
  void ResetAfter(std::size_t bytes);  // the same, when so much more has gone to the client
  void Freeze();                       // half-open: they stay open, and nothing passes
  void ResetFrozen();                  // ends these

  std::uint64_t accepted() const;  // connections

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Chunk {
    Time due;
    std::string bytes;
  };
  // Bytes on their way from one socket to the other.
  struct Way {
    int from = -1, to = -1;
    std::deque<Chunk> chunks = {};
    std::size_t queued = 0;
    bool at_end = false, ended = false;  // nothing more comes; and the other side knows
  };
  struct Link {
    Way up, down;
    bool frozen = false;
    bool cut = false;  // reset when `left` bytes have gone down
    std::size_t left = 0;
    double allowance = 0;  // bytes that may go down now
    bool over = false;
  };

  void Loop();
  void Accept();
  void Read(Way& way, Time now);
  // Writes what is due, at most `most` bytes; the number of bytes. Closes if the peer is gone.
  std::size_t Write(Link& link, Way& way, Time now, std::size_t most);
  void Serve(Link& link, Time now, double seconds);
  static void ResetSockets(Link& link);
  bool MayRead(const Link& link, const Way& way) const;
  bool MayWrite(const Link& link, const Way& way, Time now) const;
  void Wake() const;

  std::string address_;
  const std::string target_;
  int listener_ = -1, wake_ = -1;
  mutable std::mutex mutex_;  // guards the others
  std::list<Link> links_;
  std::chrono::microseconds delay_{0};
  std::size_t rate_ = 0;
  bool hold_ = false, stop_ = false;
  std::uint64_t accepted_ = 0;
  std::thread thread_;
};

}  // namespace sinew::testing
