#include "client/bake/base/monitor.h"

namespace sinew::bake {
namespace {

class SilentLine : public ProgressLine {
 public:
  void Update(double, const std::string&) override {}
};

}  // namespace

std::shared_ptr<ProgressLine> Monitor::MakeProgress(const std::string&, Part) const {
  return std::make_shared<SilentLine>();
}

void Monitor::Note(const std::string&) const {}
void Monitor::Warn(const std::string&) const {}

void Monitor::WarnOfClip(const std::string&, const std::string& text) const {
  Warn(text);
}

void Monitor::Warn(const std::vector<client::Problem>& problems) const {
  for (const client::Problem& problem : problems) Warn(problem.message);
}

}  // namespace sinew::bake
