// exit_code.h - the one place where errors become exit codes and the text a person reads.
//
// The code of a status decides the exit code, except that bake::RequestError and bake::OutputError
// have exit codes of their own.
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

// Adds a second line of the error text that says how to proceed, such as "see `sinew rigs`".
absl::Status WithHint(absl::Status status, const std::string& hint);
inline constexpr char kRecipeHint[] = "see `sinew methods` for names, parameters and ranges";

// The error of an output file, which begins with "out:", with the option that names the file;
// others as they are.
absl::Status NameOutput(const absl::Status& status, const std::string& option);

// The exit code of any status; see the table in the source. OK gives 0.
int ExitCode(const absl::Status& status);

// "sinew: MESSAGE" and, where there is one, a line with a hint. A field of a request that the
// details name is replaced by the option that fills it. Ends with a newline; control characters are
// replaced. `command` is the sub-command's name, or empty.
std::string ErrorText(const absl::Status& status, const std::string& command);

}  // namespace sinew::cli
