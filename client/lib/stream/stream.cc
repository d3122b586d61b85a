#include "sinew/stream.h"

#include <cstdlib>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/stream/stream_core.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// Depending on what was freed before, glibc gives the memory of frames back to the system, and each
// frame is received into new pages: with several poses in flight up to half of the rate is lost. It
// gives back only what exceeds twice the largest block that was freed, up to this size, unless the
// program has chosen a threshold (mallopt). This block is never touched, but from then on a process
// keeps up to 62 MiB of what it frees.
void KeepMemoryOfFrames() {
  constexpr std::size_t kLargest = std::size_t{31} << 20;
  static const bool done = [] {
    void* volatile block = std::malloc(kLargest);
    std::free(block);
    return true;
  }();
  (void)done;
}

}  // namespace

Stream::Stream(std::shared_ptr<StreamCore> core) : core_(std::move(core)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    if (core_ != nullptr) core_->Cancel();
    core_ = std::move(other.core_);
  }
  return *this;
}

Stream::~Stream() {
  if (core_ != nullptr) core_->Cancel();
}

absl::StatusOr<std::uint64_t> Stream::Send(const Pose& pose) {
  return core_->Send(pose);
}
std::size_t Stream::room() const {
  return core_->room();
}
absl::StatusOr<std::optional<StreamItem>> Stream::Next(absl::Duration timeout) {
  return core_->Next(timeout);
}
void Stream::Finish() {
  core_->Finish();
}
void Stream::Cancel() {
  core_->Cancel();
}
StreamInfo Stream::info() const {
  return core_->info();
}

absl::StatusOr<Stream> OpenStream(std::shared_ptr<Connection> connection, const Target& target,
                                  const StreamOptions& options, RestoreTarget restore,
                                  const CallOptions& call) {
  KeepMemoryOfFrames();
  v1::StreamOpen open;
  SINEW_ASSIGN_OR_RETURN(*open.mutable_target(), FromTarget(target));
  *open.mutable_layout() = FromLayout(options.layout);
  *open.mutable_output() = FromOutput(options.output);
  open.set_mode(static_cast<v1::OrderMode>(options.mode));
  open.set_window(options.window);
  open.set_publish(options.publish);
  auto core = std::make_shared<StreamCore>(std::move(connection), std::move(open), options,
                                           std::move(restore));
  SINEW_RETURN_IF_ERROR(core->Start(call));
  return Stream(std::move(core));
}

absl::StatusOr<Stream> Client::OpenStream(const Target& target, const StreamOptions& options,
                                          const CallOptions& call) const {
  return client::OpenStream(connection_, target, options, /*restore=*/{}, call);
}

}  // namespace sinew::client
