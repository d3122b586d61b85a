// download.h - DownloadRig: a rig's bytes in pieces, read and verified on the workers.
#pragma once

#include "server/calls/call_reactor.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class DownloadCall final : public CallReactor<DownloadCall> {
 public:
  using CallReactor::CallReactor;

  void OnWriteDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status Check() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendNext();

  RigKey rig_;  // constant after Check
  // Offset of the next piece. Used by OnStart and the workers in turn.
  std::uint64_t next_ = 0;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
