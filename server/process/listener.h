// listener.h - accepts connections and passes them to gRPC.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/server_builder.h>
#include <poll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/base/files.h"
#include "server/threads/quota.h"

namespace sinew::server {

// In gRPC 1.51 a port that has once run out of file descriptors accepts no connection ever again
// (CVE-2023-4785), and nothing limits connections. Here a connection beyond the limit, or one
// client's share of it, is closed at once, and so is one for which no descriptor is left.
class Listener {
 public:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  // Binds and listens; connections wait until Start. kUnavailable: an address cannot be bound.
  // http: "off" or that of the HTTP port. connections: of all clients but those of HTTP; a client
  // is a network (NetworkOf), Unix sockets count for none.
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(const std::vector<std::string>& addresses,
                                                        const std::string& http,
                                                        Quota& connections);
  // Whether an address of the option can be bound now. kUnavailable: as Bind.
  static absl::Status Check(const char* option, const std::string& address);
  ~Listener();  // calls Stop
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The addresses that Bind got, with actual ports in place of 0.
  const std::vector<std::string>& addresses() const { return addresses_; }
  const std::string& http_address() const { return http_address_; }
  // Where this process reaches itself: an abstract socket, from the first call on, which closes
  // connections of other processes at once. kUnavailable: it cannot be bound.
  absl::StatusOr<std::string> OwnAddress();

  // Acceptors of the gRPC server; they may differ in their credentials.
  struct Acceptors {
    std::unique_ptr<Acceptor> ports, unix_sockets, own;
    std::function<void(Descriptor)> http = nullptr;  // takes connections of the HTTP port
  };
  // Accepts from now on.
  void Start(Acceptors acceptors);
  // Closes the ports; connections stay. Idempotent.
  void Stop();

  // Gives back what connections hold that have been closed since.
  void ForgetClosed();
  // Connections that were closed because a limit was reached.
  std::uint64_t refused() const { return refused_; }

 private:
  struct Connection {
    int socket;
    std::uint64_t inode;  // with the number it identifies the socket; gRPC closes it by itself
    Quota::Permit permit;
  };

  explicit Listener(Quota& connections) : connections_(connections) {}
  absl::Status BindUnix(const std::string& address);
  void Loop();
  void Wake();
  // The sockets to wait for, own_ and wake_ first. Empty: stopping.
  std::vector<pollfd> Sockets();
  void Accept(int port);
  void AcceptOwn(int port);
  void AcceptHttp(int port);
  void AcceptAndClose(int port);
  bool MaySweep() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Gives back the permits of connections that are closed.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Quota& connections_;
  std::vector<std::string> addresses_, socket_files_;
  std::string http_address_;
  std::vector<Descriptor> ports_, http_ports_;
  Descriptor wake_;     // an eventfd, for a change of stopping_ or own_
  Descriptor reserve_;  // closed to accept, and close, a connection when no descriptor is left
  Acceptors acceptors_;
  std::thread thread_;
  std::atomic<std::uint64_t> refused_{0};
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Descriptor own_ ABSL_GUARDED_BY(mutex_);
  std::string own_address_ ABSL_GUARDED_BY(mutex_);
  std::list<Connection> open_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_sweep_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
