// call_log.h - what the log and the audit log report about a finished call.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "server/base/caller.h"
#include "server/runtime.h"

namespace sinew::server {

struct FinishedCall {
  const Caller& caller;
  std::string_view method;  // "RigService/DeleteRig"
  std::string_view object;  // what it concerned, or empty
  std::string_view trace;   // trace id of the client, or empty
  double seconds;
  bool audited;  // it changes something
};

// Writes a change to the audit log. All of them are there.
void AuditChange(Runtime& runtime, const FinishedCall& call);

// INTERNAL is an error of the server; any other failure is the client's or the load's and a line at
// level info, of which one client gets a few per code and period. Success and cancellation are
// lines at level debug. Of audited calls that
// failed, and of those that were denied, the audit log gets a few per client and period.
void LogCall(Runtime& runtime, const FinishedCall& call, const absl::Status& status);

}  // namespace sinew::server
