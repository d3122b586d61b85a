// serve.h - the life of the sinewd process: start, report readiness, wait for signals, drain, end.
#pragma once

#include "server/base/config.h"

namespace sinew::server {

// Blocks SIGTERM and SIGINT, which Serve waits for. Call it before starting any thread.
void BlockSignals();

// Stops malloc from returning memory to the system between frames: page faults were most of the
// cost of large frames.
void TuneMalloc();

// Runs a server until SIGTERM or SIGINT and drains it. Returns the exit code: 0 after a clean
// drain, 1 if a second signal or the drain's deadline cut calls off, 69 if an address cannot be
// bound, 78 if the configuration or data_dir is invalid. The ready file exists only while the
// server listens.
int Serve(const Config& config);

}  // namespace sinew::server
