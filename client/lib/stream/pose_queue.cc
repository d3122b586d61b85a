#include "client/lib/stream/pose_queue.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace sinew::client {
namespace {

constexpr std::uint32_t kDefaultBacklog = 64;  // of older servers, which do not report it
// Poses in flight in excess of the window: enough to hide a round trip.
constexpr std::uint32_t kMaxAhead = 48;

std::uint32_t DefaultWindow(OrderMode mode) {
  return mode == OrderMode::kOrdered ? 8 : 2;
}

}  // namespace

PoseQueue::PoseQueue(OrderMode mode, std::uint32_t window, std::size_t max_queued)
    : mode_(mode),
      max_queued_(std::max<std::size_t>(1, max_queued)),
      window_(window == 0 ? DefaultWindow(mode) : window),
      ahead_(kMaxAhead) {}

void PoseQueue::Open(std::uint32_t window, std::uint32_t backlog) {
  if (window > 0) window_ = window;
  ahead_ = std::min(kMaxAhead, backlog == 0 ? kDefaultBacklog : backlog);
  open_ = true;
}

absl::StatusOr<std::uint64_t> PoseQueue::Check(std::uint64_t wanted) const {
  const std::uint64_t number = wanted == 0 ? last_ + 1 : wanted;
  if (number <= last_) {
    return absl::InvalidArgumentError(
        absl::StrCat("pose.frame: got ", wanted, " after ", last_, ", need a higher number"));
  }
  if (room() == 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pose: ", waiting_.size() - again_,
                                                     " poses are queued; receive frames first"));
  }
  return number;
}

void PoseQueue::Push(QueuedPose pose) {
  last_ = pose.frame;
  if (mode_ == OrderMode::kLatest) {
    for (const QueuedPose& dropped : waiting_) pose.replaced += dropped.replaced + 1;
    waiting_.clear();
  }
  waiting_.push_back(std::move(pose));
}

std::size_t PoseQueue::room() const {
  if (mode_ == OrderMode::kLatest) return 1;
  return max_queued_ - (waiting_.size() - again_);
}

QueuedPose* PoseQueue::TakeNext() {
  if (!open_ || waiting_.empty() || full()) return nullptr;
  const std::uint64_t frame = waiting_.front().frame;
  if (first_of_call_ == 0) first_of_call_ = frame;
  beyond_.push_back(frame);
  sent_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  if (again_ > 0) --again_;
  return &sent_.back();
}

absl::StatusOr<QueuedPose> PoseQueue::Answer(std::uint64_t frame) {
  const auto found = std::find_if(sent_.begin(), sent_.end(),
                                  [&](const QueuedPose& pose) { return pose.frame == frame; });
  const bool skips = found != sent_.begin();
  if (found == sent_.end() || (mode_ == OrderMode::kOrdered && skips)) {
    return absl::InternalError(
        absl::StrCat("frame: got ", frame, ", need ", first_unanswered().value_or(0)));
  }
  QueuedPose answered = std::move(*found);
  for (auto pose = sent_.begin(); pose != found; ++pose) answered.replaced += pose->replaced;
  sent_.erase(sent_.begin(), found + 1);
  return answered;
}

void PoseQueue::Consume(std::uint64_t frame) {
  consumed_ = frame;
  ++consumed_since_;
}

std::optional<std::uint64_t> PoseQueue::TakeAcknowledgement(bool anyway) {
  const bool due = consumed_since_ >= std::max(1u, window_ / 2) || full() || anyway;
  if (!due || consumed_ <= acknowledged_ || first_of_call_ == 0 || consumed_ < first_of_call_) {
    return std::nullopt;
  }
  acknowledged_ = consumed_;
  consumed_since_ = 0;
  while (!beyond_.empty() && beyond_.front() <= acknowledged_) beyond_.pop_front();
  return acknowledged_;
}

void PoseQueue::Requeue() {
  open_ = false;
  first_of_call_ = 0;
  beyond_.clear();
  consumed_since_ = 0;
  if (mode_ == OrderMode::kOrdered) {
    again_ += sent_.size();
    waiting_.insert(waiting_.begin(), std::make_move_iterator(sent_.begin()),
                    std::make_move_iterator(sent_.end()));
  } else if (!sent_.empty()) {
    if (waiting_.empty()) {
      waiting_.push_back(std::move(sent_.back()));
      sent_.pop_back();
    }
    for (const QueuedPose& dropped : sent_) waiting_.front().replaced += dropped.replaced + 1;
  }
  sent_.clear();
}

std::optional<std::uint64_t> PoseQueue::first_unanswered() const {
  if (sent_.empty()) return std::nullopt;
  return sent_.front().frame;
}

std::optional<std::uint64_t> PoseQueue::last_unanswered() const {
  if (sent_.empty()) return std::nullopt;
  return sent_.back().frame;
}

}  // namespace sinew::client
