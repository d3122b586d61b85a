#include "client/cli/commands/program.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "client/cli/base/exit_code.h"
#include "client/cli/commands/command_line.h"
#include "client/cli/run/interrupt.h"
#include "client/lib/base/standard_streams.h"

namespace sinew::cli {
namespace {

// Exceptions of the standard library (no memory, mostly) end here; nothing else throws this far.
absl::Status Run(const CommandLine& line, Context& context) {
  try {
    return line.command(context);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  OpenStandardStreams();
  const Interrupt interrupt;
  // What gRPC prints itself, such as failed handshakes, arrives as a status as well.
  ::setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  const CommandLine line = ParseCommandLine(argc, argv);
  if (!line.command) {
    WriteOutput(line.output);
    std::fputs(line.errors.c_str(), stderr);
    const absl::Status written = CheckOutput();
    if (written.ok()) return line.exit_code;
    PrintFailure(line.globals, written, line.name);
    return ExitCode(written);
  }
  absl::Status status;
  {
    Context context(line.globals, interrupt.token());
    status = context.NameOptions(Run(line, context));
  }
  const absl::Status written = CheckOutput();
  if (status.ok()) status = written;
  if (interrupt.requested() && !status.ok()) {
    PrintInterrupted(line.globals, interrupt.exit_code());
    interrupt.Raise();
  }
  if (!status.ok()) PrintFailure(line.globals, status, line.name);
  return ExitCode(status);
}

}  // namespace sinew::cli
