// serve.h - the life of the sinewd process: start, say so, wait for signals, drain, end.
#pragma once

#include "server/base/config.h"

namespace sinew::server {

// Makes SIGTERM and SIGINT wait for Serve. Call it before any thread is started.
void BlockSignals();

// Keeps malloc from giving memory back between frames: page faults were most of the cost of large
// ones.
void TuneMalloc();

// Runs a server until SIGTERM or SIGINT and drains it. Returns the exit code: 0 after a clean
// drain, 1 if a second signal or the drain's deadline cut work off, 69 if an address cannot be
// bound, 78 for the
// configuration or data_dir. The ready file is there only while the server listens.
int Serve(const Config& config);

}  // namespace sinew::server
