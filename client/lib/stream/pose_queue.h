// pose_queue.h - the poses of one stream: waiting, sent, answered, acknowledged.
//
// Bookkeeping only, without clock, lock or socket. Frame numbers of poses rise strictly.
//
//   Push -> [waiting] -> TakeNext -> [sent] -> Answer -> (frame goes to the caller) -> Consume ->
//   TakeAcknowledgement
//
// A server keeps window + backlog poses after the last acknowledgement and ends a stream that sends
// more. TakeNext respects that limit, and returns nothing before the server has granted both.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <deque>
#include <optional>

#include "sinew/stream.h"

namespace sinew::client {

struct QueuedPose {
  std::uint64_t frame = 0;
  grpc::Slice wire = {};       // a StreamDeformRequest that holds this pose alone
  std::uint32_t replaced = 0;  // LATEST: poses that it replaced in this queue
  double sent = 0;             // s, of whatever clock the caller of TakeNext sets it by
};

class PoseQueue {
 public:
  // `window` 0: the server's default, until Open.
  PoseQueue(OrderMode mode, std::uint32_t window, std::size_t max_queued);

  // The server has accepted the call and granted `window` and `backlog`. 0, from older servers:
  // keeps the window, and a backlog of 64.
  void Open(std::uint32_t window, std::uint32_t backlog);

  // The frame number of the next pose, which requests `wanted` (0 = the number after the last).
  //   kInvalidArgument: not above the last. kResourceExhausted: no room.
  absl::StatusOr<std::uint64_t> Check(std::uint64_t wanted) const;

  // Adds a pose with a number from Check. LATEST: drops the poses that wait.
  void Push(QueuedPose pose);

  // Number of poses that Push would accept. Only Push makes it smaller: poses that wait again after
  // a break do not count.
  std::size_t room() const;

  // The next pose to send, which then counts as sent. Null: no pose waits, too many are not
  // acknowledged, or the call is not open.
  QueuedPose* TakeNext();

  // A frame or a problem for pose `frame` has arrived. Returns that pose; its `replaced` includes
  // that of skipped poses.
  //   kInternal: no such pose was sent, or an earlier pose of an ordered stream has no answer yet.
  absl::StatusOr<QueuedPose> Answer(std::uint64_t frame);

  // The caller has received the answer for `frame`.
  void Consume(std::uint64_t frame);

  // The number to acknowledge with the next message, if enough answers were consumed.
  //   anyway  acknowledge even one: the message is sent in any case, or the server waits for it
  std::optional<std::uint64_t> TakeAcknowledgement(bool anyway);

  // The stream broke: poses without an answer wait again (LATEST: only the newest), and the next
  // call is not open yet.
  void Requeue();

  // No pose waits, and every pose has an answer.
  bool answered_all() const { return waiting_.empty() && sent_.empty(); }
  // Poses without an answer, sent or waiting.
  std::size_t unanswered() const { return waiting_.size() + sent_.size(); }
  // The lowest number sent and not answered.
  std::optional<std::uint64_t> first_unanswered() const;
  // The highest such number.
  std::optional<std::uint64_t> last_unanswered() const;

 private:
  // Maximum number of poses sent after the last acknowledgement.
  std::size_t limit() const { return std::size_t{window_} + ahead_; }
  bool full() const { return beyond_.size() >= limit(); }

  const OrderMode mode_;
  const std::size_t max_queued_;
  std::uint32_t window_;
  std::uint32_t ahead_;     // poses to send in excess of the window
  bool open_ = false;       // the server has accepted the call
  std::uint64_t last_ = 0;  // highest number so far
  std::deque<QueuedPose> waiting_;
  std::size_t again_ = 0;             // ordered: the first of waiting_ that were sent before
  std::deque<QueuedPose> sent_;       // after the last answer
  std::deque<std::uint64_t> beyond_;  // numbers sent on this call after the last acknowledgement
  std::uint64_t consumed_ = 0;        // last number that the caller has received
  std::uint32_t consumed_since_ = 0;  // answers received since the last acknowledgement
  std::uint64_t acknowledged_ = 0;
  std::uint64_t first_of_call_ = 0;  // lowest number sent on this call, 0 = none
};

}  // namespace sinew::client
