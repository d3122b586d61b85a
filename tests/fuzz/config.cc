// config.cc - the configuration file of sinewd.
#include "server/base/config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "server/base/config_options.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  static const int file = memfd_create("config", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  fuzz::Require(
      ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size),
      "a file in memory");
  server::Config config;
  const absl::Status loaded = server::LoadConfigFile(path, config);
  if (!loaded.ok()) {
    fuzz::RequireRefusal(loaded);
    return 0;
  }
  const absl::Status valid = config.Validate();
  if (!valid.ok()) {
    fuzz::RequireRefusal(
        valid, {absl::StatusCode::kInvalidArgument, absl::StatusCode::kFailedPrecondition});
    return 0;
  }
  server::VisitOptions(config, [](const server::Option& option, const auto& member) {
    if constexpr (std::is_same_v<decltype(member), const double&>) {
      fuzz::Require(member >= option.minimum && member <= option.maximum,
                    std::string(option.name) + " in its range");
    }
  });
  // Loaded twice it changes nothing more.
  server::Config again = config;
  fuzz::Require(
      server::LoadConfigFile(path, again).ok() && server::ChangedOptions(config, again).empty(),
      "the same configuration");
  return 0;
}
