// motions.h - the characters that the faults disturb, and the frames that an undisturbed server
// computes for them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "sinew/client.h"
#include "tests/fault/suite.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/motion.h"

namespace sinew::testing {

// Tubes of 66, 322, 4,002 and 40,002 vertices.
enum class Size { kSmall, kMedium, kLarge, kHuge };

// A server that meets no fault. Thread-safe.
class Undisturbed {
 public:
  explicit Undisturbed(Suite& suite);
  // Evaluated the first time.
  const Motion& Get(Size size, const std::string& recipe);

 private:
  Suite& suite_;
  SinewdProcess server_;
  client::Client client_;
  std::mutex mutex_;
  std::map<std::pair<Size, std::string>, Motion> motions_;
};

client::Client Connected(Suite& suite, const client::ClientOptions& options);

}  // namespace sinew::testing
