// exit_code.h - the one place where errors become exit codes and the text a person reads.
//
// A status says what went wrong; where it matters, UsageError and OutputError add in what part of
// the program, because the same code means another exit then.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace sinew::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 64;
inline constexpr int kExitBadInput = 65;
inline constexpr int kExitUnavailable = 69;
inline constexpr int kExitInternal = 70;
inline constexpr int kExitCannotWrite = 73;
inline constexpr int kExitTemporary = 75;
inline constexpr int kExitNotPermitted = 77;

// The command line itself is wrong: exit 64.
absl::Status UsageError(const std::string& message);

// Something could not be written: exit 73.
absl::Status OutputError(const std::string& message);

// The reader of our stdout has left, as `head` does: exit 73, and nothing to say about it.
absl::Status ReaderGone();

// "what: message", code and details kept. For saying which file or frame an error is about.
absl::Status Prefixed(const std::string& what, const absl::Status& status);

// The exit code of any status; see the table in the source. OK gives 0.
int ExitCode(const absl::Status& status);

// "sinew: MESSAGE" and, where we know one, a second line that says how to mend it. Ends with a
// newline; control characters are replaced. `command` is the sub-command's name, or empty.
std::string ErrorText(const absl::Status& status, const std::string& command);

}  // namespace sinew::cli
