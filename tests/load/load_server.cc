#include "tests/load/load_server.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/integration/server/http_get.h"
#include "tests/load/bounds.h"
#include "tests/load/pace.h"
#include "tests/support/motion.h"

namespace sinew::testing {
namespace {

std::vector<std::string> Flags(std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--http", "127.0.0.1:0", "--log-level", "error"});
  return flags;
}

}  // namespace

LoadServer::LoadServer(Report& report, std::vector<std::string> flags)
    : report_(report), process_(Flags(std::move(flags))) {
  if (!process_.address().empty()) return;
  report_.Error(absl::StrCat("sinewd does not start: ", process_.err()));
  throw Abandoned();
}

LoadServer::~LoadServer() {
  if (report_.errors() > 0) std::printf("stderr of sinewd:\n%s\n", process_.err().c_str());
}

client::Client LoadServer::Client() const {
  return report_.Need(client::Client::Connect(Direct(address())), "connect");
}

client::ServerStats LoadServer::Stats(const client::Client& client) const {
  return report_.Need(client.GetServerInfo(), "GetServerInfo").stats;
}

double LoadServer::HeapBytes() const {
  return std::atof(MetricOf(process_.http(), "sinew_heap_bytes").c_str());
}

void LoadServer::Stop() {
  const auto start = LoadClock::now();
  const int code = process_.Stop();
  report_.Note("from SIGTERM to the end of the process", SecondsSince(start), "s");
  report_.AtMost("exit code after SIGTERM, or -signal", code < 0 ? -code + 1000 : code, "",
                 bounds::kExitCode);
}

}  // namespace sinew::testing
