// testdata.h - location of the optional real characters and reference outputs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sinew::testing {

// The folder of shared test data: $SINEW_SHARED_DATA, else ../shared/data beside the repository.
// Tests skip if it does not exist.
inline std::filesystem::path SharedData() {
  if (const char* set = std::getenv("SINEW_SHARED_DATA")) return set;
  return std::filesystem::path(SINEW_SOURCE_DIR).parent_path() / "shared" / "data";
}

}  // namespace sinew::testing
