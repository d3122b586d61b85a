// problem.h - errors and warnings in a form that programs can use.
//
// Included by sinew/messages.h. Plain values. Field paths are those of the wire (package sinew.v1)
// or, for a file, a place in it.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinew::client {

// How much a problem matters.
enum class Severity : std::uint8_t {
  kInfo = 1,     // worth knowing, nothing to do
  kWarning = 2,  // will show in the result, or part of the input was not kept
  kError = 3     // the server refuses the input, or the session failed
};

// "info", "warning" or "error".
constexpr const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    default:
      return "error";
  }
}

// A note, a warning or an error about a rig, a file, a recipe or a session.
struct Problem {
  Severity severity = Severity::kWarning;
  std::string message = {};  // what is wrong, what was found, what is allowed
  std::string field = {};    // path in the request, or place in the file; empty: the whole
  absl::StatusCode code = absl::StatusCode::kOk;  // kOk unless `severity` is kError
  std::string reason = {};                        // as ErrorDetails::reason
  // The problem concerns the meshes, skins, materials or scenes of a file, not how clips move it.
  bool of_meshes = false;
};

// What the server attached to an error besides code and message; empty where it sent nothing.
struct ErrorDetails {
  // A field or limit that a request violates.
  struct Violation {
    std::string field;  // path in the request, or the name of the limit
    std::string description;
  };
  std::string reason;  // a name of sinew.v1.Reason without its prefix, e.g. "USE_STREAM",
                       // "DETERMINISM_MISMATCH"
  std::string domain;  // "sinew" for errors of a Sinew server
  std::map<std::string, std::string> metadata;  // values of the message, by name
  std::string field;                            // the first of `fields`, or empty
  std::vector<Violation> fields;                // the invalid fields of the request
  std::vector<Violation> limits;                // the limits that were exceeded
  std::optional<absl::Duration> retry_delay;    // unset: a retry is unlikely to help
};

// Reads the details of any status that this library returned. Never fails: unreadable details are
// left out. For people print status.message(): status.ToString() repeats it as escaped bytes of the
// details.
ErrorDetails Details(const absl::Status& status);

}  // namespace sinew::client
