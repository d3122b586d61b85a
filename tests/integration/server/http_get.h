// http_get.h - GET from a server's HTTP port. Apart from the tests, because httplib.h compiles
// slowly.
#pragma once

#include <string>

namespace sinew::testing {

struct HttpReply {
  int status = 0;  // 0: no reply
  std::string body;
};

// address: "127.0.0.1:9464".
HttpReply HttpGet(const std::string& address, const std::string& path);

// A value at /metrics, or "".
std::string MetricOf(const std::string& address, const std::string& name);

// How many calls of "RigService/UploadRig" run.
int RunningCalls(const std::string& address, const std::string& method);

// Waits until the server knows that `count` messages of streams have been written. A client may
// have read a message before that, and a write that is pending while the clock advances counts as
// stalled.
void WaitForWrites(const std::string& address, int count);

}  // namespace sinew::testing
