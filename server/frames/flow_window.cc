#include "server/frames/flow_window.h"

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinew::server {

absl::Status FlowWindow::Take(std::uint64_t frame, std::size_t waiting) {
  if (frame <= last_taken_) {
    return InvalidField("poses.frame", absl::StrCat("got ", frame, ", need more than ", last_taken_,
                                                    " (frames start at 1 and rise)"));
  }
  const std::size_t beyond = unacknowledged_.size() + (latest_ ? 0 : waiting) + 1;
  if (beyond > window_ + backlog_) {
    return WithReason(LimitExceeded("poses", beyond, window_ + backlog_,
                                    "poses beyond the last acknowledged frame", "max-backlog"),
                      v1::REASON_BACKLOG);
  }
  last_taken_ = frame;
  return absl::OkStatus();
}

absl::Status FlowWindow::Acknowledge(std::uint64_t frame) {
  if (last_taken_ == 0) {  // resumed: poses go on behind it
    last_taken_ = last_started_ = frame;
    return absl::OkStatus();
  }
  if (frame > last_started_) {
    return InvalidField("received",
                        absl::StrCat("got ", frame, ", the last frame sent is ", last_started_));
  }
  while (!unacknowledged_.empty() && unacknowledged_.front() <= frame) {
    unacknowledged_.pop_front();
  }
  return absl::OkStatus();
}

bool FlowWindow::MayStart(std::size_t ready) const {
  return !full() && ready < (latest_ ? 1 : kReady);
}

void FlowWindow::Start(std::uint64_t frame) {
  last_started_ = frame;
  unacknowledged_.push_back(frame);
}

}  // namespace sinew::server
