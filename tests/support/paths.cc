#include "tests/support/paths.h"

#include <cstdlib>

namespace sinew::testing {

// Only this file is compiled with absolute paths, so that checkouts can share a compiler cache.
std::filesystem::path SourceFolder() {
  return SINEW_SOURCE_DIR;
}

std::filesystem::path BuildFolder() {
  return SINEW_BINARY_DIR;
}

std::string ProgramPath(const std::string& name) {
  return (BuildFolder() / "bin" / name).string();
}

std::filesystem::path SharedData() {
  if (const char* set = std::getenv("SINEW_SHARED_DATA")) return set;
  return SourceFolder().parent_path() / "shared" / "data";
}

}  // namespace sinew::testing
