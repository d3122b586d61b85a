// ready_file.h - the file that tells others where a server listens, for as long as it does.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

namespace sinew::server {

// Every path may be empty: then nothing happens.

// Before starting: removes what a server that runs no more has left.
void RemoveStaleReadyFile(const std::string& path);
// Whether a file can be written there, so that no server says that it listens and then ends.
absl::Status CheckReadyFile(const std::string& path);
// JSON: addresses, http, pid. Errors as WriteAtomically.
absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses,
                            const std::string& http_address);
// Removes the file if this process has written it last.
void RemoveOwnReadyFile(const std::string& path);

}  // namespace sinew::server
