#include "tests/load/process_sampler.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

#include "tests/integration/server/resident_memory.h"

namespace sinew::testing {
namespace {

double Entries(const std::string& folder) {
  double count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

ProcessSampler::ProcessSampler(pid_t pid)
    : pid_(pid), thread_([this](const std::stop_token& stop) {
        Repeat(std::chrono::seconds(1), stop, [this] {
          const ProcessSample sample = Sample();
          const std::lock_guard lock(mutex_);
          samples_.push_back(sample);
        });
      }) {}

ProcessSample ProcessSampler::Sample() const {
  const std::string folder = absl::StrCat("/proc/", pid_);
  return {.seconds = SecondsSince(start_),
          .kilobytes = static_cast<double>(ResidentBytes(pid_) >> 10),
          .peak_kilobytes = static_cast<double>(ResidentBytes(pid_, "VmHWM") >> 10),
          .files = Entries(folder + "/fd"),
          .threads = Entries(folder + "/task")};
}

std::vector<ProcessSample> ProcessSampler::Samples() const {
  const std::lock_guard lock(mutex_);
  return samples_;
}

}  // namespace sinew::testing
