// fitted_config.h - the default configuration of a server on a machine of two cores and 16 GiB.
#pragma once

#include <gtest/gtest.h>

#include "server/base/config.h"

namespace sinew::testing {

inline server::Config FittedConfig() {
  server::Machine machine;
  machine.cores = 2;
  machine.memory_bytes = std::uint64_t{16} << 30;
  server::Config config;
  EXPECT_TRUE(config.FitTo(machine).ok());
  return config;
}

}  // namespace sinew::testing
