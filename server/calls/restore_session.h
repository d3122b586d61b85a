// restore_session.h - sessions that another server began and this one continues. Their records say
// which rig and recipe they have; rig and bound data come from the shared store.
//
// All functions block. Call them on the lane `fetches`, and what may plan a bind on `estimates`.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "server/calls/call.h"
#include "server/shared/session_records.h"
#include "server/store/session_table.h"

namespace sinew::server {

// Whether this server does not know the session, and others may.
bool MayRestore(const Call& call, const std::string& name);

// kNotFound: there is no such session, with the message of SessionTable; kUnavailable: the records
// cannot be reached.
absl::StatusOr<SessionRecord> FindRecord(const Call& call, const std::string& name);

// Makes the session of a record here; its bind has been started if it was not there. May plan.
// Errors as MakeSession.
absl::StatusOr<std::shared_ptr<Session>> MakeRestored(const Call& call, const std::string& name,
                                                      const SessionRecord& record);

// Both, unless the session is known here. OK also then.
absl::Status RestoreIfUnknown(const Call& call, const std::string& name);

// Ends a session on all servers. kNotFound.
absl::Status DeleteEverywhere(const Call& call, const std::string& name);

}  // namespace sinew::server
