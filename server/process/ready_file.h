// ready_file.h - a file with the addresses of a server, which exists while it listens.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <vector>

namespace sinew::server {

// With an empty path all of these do nothing.

// Before starting: removes a file left by a server that no longer runs.
void RemoveStaleReadyFile(const std::string& path);
// Checks before listening that the file can be written. kInvalidArgument: it cannot.
absl::Status CheckReadyFile(const std::string& path);
// JSON: addresses, http, pid. Errors as WriteAtomically.
absl::Status WriteReadyFile(const std::string& path, const std::vector<std::string>& addresses,
                            const std::string& http_address);
// Removes the file if this process was the last to write it.
void RemoveOwnReadyFile(const std::string& path);

}  // namespace sinew::server
