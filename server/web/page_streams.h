// page_streams.h - the streams of browser pages. A page has one endless HTTP response that brings
// the replies of all its calls, and sends the messages of each call in requests of their own.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "server/threads/quota.h"
#include "server/web/forwarded_call.h"

namespace sinew::server {

// One page while its response is open. Thread-safe.
class PageStream {
 public:
  // caller: whose calls these are.
  PageStream(Upstream upstream, WebCaller caller, Quota::Permit place)
      : upstream_(std::move(upstream)), caller_(std::move(caller)), place_(std::move(place)) {}
  ~PageStream() { Close(); }

  WebQueue& queue() { return queue_; }
  bool IsOf(const WebCaller& caller) const { return caller.authorization == caller_.authorization; }

  // A StreamDeformRequest of a call; the first message of a number starts the call.
  // kNotFound: the call has ended. kResourceExhausted: too many calls.
  absl::Status Send(std::uint32_t number, std::string_view message);
  // Cancels a call; its trailer follows. kNotFound: there is none.
  absl::Status End(std::uint32_t number);
  // The response has ended: cancels all calls.
  void Close();

 private:
  static constexpr std::size_t kMostCalls = 8, kMostNumbers = 1 << 16;
  struct Call {
    Call(const Upstream& upstream, const WebCaller& caller, std::uint32_t number, WebQueue& queue);
    absl::Mutex writing;  // held by Send: gRPC takes one message at a time
    ForwardedCall forwarded;
  };
  absl::StatusOr<std::shared_ptr<Call>> FindOrStart(std::uint32_t number);

  const Upstream upstream_;
  const WebCaller caller_;
  const Quota::Permit place_;
  WebQueue queue_;
  absl::Mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  std::set<std::uint32_t> used_ ABSL_GUARDED_BY(mutex_);  // numbers of all calls so far
};

// All pages. Thread-safe.
class PageStreams {
 public:
  // most: pages at a time; a token may hold half of those that others leave.
  PageStreams(Upstream upstream, std::size_t most)
      : upstream_(std::move(upstream)), places_(most, 0.5, "max-web-connections", "pages") {}

  // A page has opened its response. kInvalidArgument: no such id; kAlreadyExists: one is open;
  // kResourceExhausted: too many pages.
  absl::StatusOr<std::shared_ptr<PageStream>> Open(const std::string& id, const WebCaller& caller);
  // Its response has ended.
  void Close(const std::string& id);
  // Null: no response of that page is open.
  std::shared_ptr<PageStream> Find(const std::string& id);
  // Ends the responses of all pages.
  void CloseAll();

 private:
  const Upstream upstream_;
  Quota places_;
  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<PageStream>> pages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
