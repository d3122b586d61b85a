// pose_queue.h - the poses of one stream on their way: waiting, on the wire, answered,
// acknowledged.
//
// Pure bookkeeping without clock, lock or socket. Every pose has a frame number; numbers rise
// strictly.
//
//   Push -> [waiting] -> TakeNext -> [sent] -> Answer -> (frame goes to the caller) -> Consume ->
//   TakeAcknowledgement
//
// A server keeps window + backlog poses beyond the last acknowledgement and ends the stream past
// that, so TakeNext stops there at the latest, and gives nothing before the server has said both.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <deque>
#include <optional>

#include "sinew/stream.h"

namespace sinew::client {

// In a run of poses without output, one in so many asks for a frame all the same: the server's
// answer allows further poses to be sent.
inline constexpr std::size_t kProbeEvery = 16;

struct QueuedPose {
  std::uint64_t frame = 0;
  bool no_output = false;      // no frame will answer it
  bool probe = false;          // answered by a frame that the caller has not asked for
  bool reset = false;          // forgets the poses before
  grpc::Slice wire = {};       // a StreamDeformRequest that holds this pose alone
  std::uint32_t replaced = 0;  // LATEST: poses dropped here in its favour
};

class PoseQueue {
 public:
  // A `window` of 0 stands for the server's default until Open.
  PoseQueue(OrderMode mode, std::uint32_t window, std::size_t max_queued);

  // The server has accepted the call. `window` and `backlog` as it has granted them; 0, which only
  // older servers say, leaves the window and stands for a backlog of 64.
  void Open(std::uint32_t window, std::uint32_t backlog);

  // Number the next pose gets if it asks for `wanted` (0 = the one after the last).
  //   kInvalidArgument: not above the last. kResourceExhausted: no room.
  absl::StatusOr<std::uint64_t> Check(std::uint64_t wanted) const;

  // Poses without output are not answered, so a long run of them could pass the server's backlog
  // unseen. True if the next such pose must ask for a frame after all, to be taken by us.
  bool WantsProbe() const;

  // LATEST: the next pose replaces one with `reset`, so it must reset in its place.
  bool ReplacesReset() const;

  // Adds a pose whose number Check has allowed. LATEST: drops what waits.
  void Push(QueuedPose pose);

  // Poses that Push has room for.
  std::size_t room() const;

  // The next pose to send, or null while none waits, too many are unacknowledged, or the call is
  // not open. It counts as sent.
  const QueuedPose* TakeNext();

  // A frame or a problem came for pose `frame`; a problem may also come for one without output.
  // Returns that pose; its `replaced` includes that of skipped poses.
  //   kInternal: no such pose was sent, or an ordered one before it has no answer yet.
  absl::StatusOr<QueuedPose> Answer(std::uint64_t frame);

  // The caller took the answer for `frame`.
  void Consume(std::uint64_t frame);

  // The number to acknowledge with the next message, if it is worth one.
  //   anyway  even a single one: the message carries poses, or the server waits for it
  std::optional<std::uint64_t> TakeAcknowledgement(bool anyway);

  // The stream broke: what has no answer waits again (LATEST: the newest alone), nothing is on the
  // wire, and the next call is not open yet.
  void Requeue();

  // Every pose that wants an answer has one, and none waits.
  bool answered_all() const { return waiting_.empty() && !first_unanswered(); }
  // The lowest number sent and not answered.
  std::optional<std::uint64_t> first_unanswered() const;

 private:
  // Most poses sent beyond the last acknowledgement.
  std::size_t limit() const { return std::size_t{window_} + ahead_; }
  bool full() const { return beyond_.size() >= limit(); }

  const OrderMode mode_;
  const std::size_t max_queued_;
  std::uint32_t window_;
  std::uint32_t ahead_;         // poses to send beyond the window
  bool open_ = false;           // the server has accepted the call
  std::size_t silent_run_ = 0;  // poses without output since the last with
  std::uint64_t last_ = 0;      // highest number given out
  std::deque<QueuedPose> waiting_;
  std::deque<QueuedPose> sent_;       // beyond the last answer
  std::deque<std::uint64_t> beyond_;  // numbers sent on this call beyond the last acknowledgement
  std::uint64_t consumed_ = 0;        // last number the caller took
  std::uint32_t consumed_since_ = 0;  // answers taken since the last acknowledgement
  std::uint64_t acknowledged_ = 0;
  std::uint64_t first_of_call_ = 0;  // lowest number sent on this call, 0 = none
};

}  // namespace sinew::client
