// forwarded_call.h - a call of any method, whose messages pass through as bytes.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "server/web/grpc_web.h"

namespace sinew::server {

// Who sent an HTTP request; printable ASCII.
struct WebCaller {
  std::string authorization;  // that header; empty: none
  std::string forwarded;      // X-Forwarded-For, with the address of the connection at its end
};

// The server that calls go to.
struct Upstream {
  std::shared_ptr<grpc::Channel> channel;
  // With the token of the call.
  std::function<std::unique_ptr<grpc::ClientContext>(const WebCaller&)> context;
};

// Messages on their way to one HTTP response. Thread-safe.
class WebQueue {
 public:
  // Waits while the response has not taken what is there. False: it has ended.
  bool Push(WebMessage message);
  // The next message; empty if there is none within `wait`.
  std::optional<WebMessage> Pop(std::chrono::milliseconds wait);
  // The response has ended: every Push returns false.
  void Close();

 private:
  // A message being written and one that waits: a page that does not read stops its calls.
  static constexpr std::size_t kMost = 1;
  absl::Mutex mutex_;
  std::deque<WebMessage> messages_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// A call, and a thread that puts its replies and then its trailer into a queue. One thread at a
// time may write.
class ForwardedCall {
 public:
  // method: "/package.Service/Method". number: of the messages. The queue outlives the call.
  ForwardedCall(const Upstream& upstream, const WebCaller& caller, std::string method,
                std::uint32_t number, WebQueue& queue);
  // Cancels the call and waits for its end.
  ~ForwardedCall();
  ForwardedCall(const ForwardedCall&) = delete;
  ForwardedCall& operator=(const ForwardedCall&) = delete;

  // False: the call has ended.
  bool Write(const grpc::ByteBuffer& message);
  void WritesDone();
  // Its trailer follows.
  void Cancel() { context_->TryCancel(); }
  // Its trailer is in the queue, or the queue is closed.
  bool ended() const { return ended_; }

 private:
  void Read(std::uint32_t number, WebQueue& queue);

  const std::string method_;
  const std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace sinew::server
