// upload.h - UploadRig: pieces of a rig's bytes, appended on the workers.
#pragma once

#include "server/calls/call_reactor.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadCall final : public CallReactor<UploadCall> {
 public:
  using CallReactor::CallReactor;

  void OnReadDone(bool ok) override;

 private:
  friend CallReactor;
  absl::Status OnAdmitted() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ReadMessage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call with what is stored so far.
  void Reply() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Append();

  UploadTable::Sender sender_;  // constant after OnAdmitted
  v1::UploadRigResponse reply_ ABSL_GUARDED_BY(mutex_);
  Quota::Permit holding_ ABSL_GUARDED_BY(mutex_);  // the message, until it has been stored
  // Used by OnReadDone and the worker in turn, like read_.
  v1::UploadRigRequest request_;
  v1::UploadHeader header_;
};

}  // namespace sinew::server
