// problem.h - what a program may know of an error or a warning beside its text.
//
// Included by sinew/messages.h. Values that own what they hold. Names of fields are those of the
// wire (package sinew.v1).
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

// A warning, or why a session failed.
struct Problem {
  absl::StatusCode code = absl::StatusCode::kOk;  // kOk: a warning
  std::string reason;                             // as ErrorDetails::reason
  std::string message;                            // "field: what was got, what is allowed"
  std::string field;                              // path within the request; empty: none to blame
  std::map<std::string, std::string> metadata;    // what a program may need of the message
};

// What the server attached to an error beside code and message; empty where it said nothing.
struct ErrorDetails {
  struct Violation {
    std::string field;  // path within the request, or the name of the limit
    std::string description;
  };
  std::string reason;  // a name of sinew.v1.Reason without its prefix, e.g. "USE_STREAM",
                       // "DETERMINISM_MISMATCH"
  std::string domain;  // "sinew" for this server's errors
  std::map<std::string, std::string> metadata;  // numbers of the message, by name
  std::string field;                            // the first of `fields`, or empty
  std::vector<Violation> fields;                // which fields of the request were wrong
  std::vector<Violation> limits;                // which limits were passed
  std::optional<absl::Duration> retry_delay;    // unset: waiting does not help, or nobody knows
};

// Reads the details of any status this library returned. Never fails: what cannot be read is left
// out.
ErrorDetails Details(const absl::Status& status);

}  // namespace sinew::client
