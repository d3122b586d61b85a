// serve.h - the life of the sinewd process: start, report readiness, wait for signals, drain, end.
#pragma once

#include <absl/status/statusor.h>

#include <functional>

#include "server/base/config.h"

namespace sinew::server {

// Blocks SIGTERM, SIGINT and SIGHUP, which Serve waits for. Call it before starting any thread.
void BlockSignals();

// Stops malloc from returning memory to the system between frames: page faults were most of the
// cost of large frames.
void TuneMalloc();

// Reads tokens, keys and certificates, and checks whether data-dir, audit-log, ready-file and
// addresses can be used; prints what is wrong. Leaves nothing. Returns the exit code: 0, 69 or 78.
int CheckFiles(const Config& config);

// Runs a server until SIGTERM or SIGINT and drains it; after SIGHUP it gets the configuration that
// `read_again` returns. Returns the exit code: 0 after a clean
// drain, 1 if a second signal or the drain's deadline cut calls off, 69 if an address cannot be
// bound, 78 if the configuration or data_dir is invalid. The ready file exists only while the
// server listens.
int Serve(const Config& config, const std::function<absl::StatusOr<Config>()>& read_again);

}  // namespace sinew::server
