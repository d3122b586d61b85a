#include "client/import/appended_clips.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "client/import/scene_graph.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::size_t kShownNames = 5;

std::string FreeName(const ImportedScene& from, const std::string& name, const ImportedScene& to) {
  const auto taken = [&](const std::string& wanted) {
    return std::ranges::count(to.clips, wanted, &ClipInfo::name) > 0;
  };
  std::string base = name;
  if (taken(base) && from.clips.size() == 1) {
    base = std::filesystem::path(from.rig.label).stem().string();
  }
  std::string free = base;
  for (int suffix = 2; taken(free) || free.empty(); ++suffix) {
    free = absl::StrCat(base, ".", suffix);
  }
  return free;
}

}  // namespace

const std::string& LabelOf(const ImportedScene& scene) {
  static const std::string unnamed = "the character";
  return scene.rig.label.empty() ? unnamed : scene.rig.label;
}

std::string Quoted(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kShownNames);
  return absl::StrCat("'", absl::StrJoin(names.begin(), names.begin() + shown, "', '"), "'",
                      names.size() > shown ? ", ..." : "");
}

absl::Status CheckClips(const ImportedScene& from, const ImportedScene& to) {
  if (!from.clips.empty() && from.animation != nullptr && to.animation != nullptr) {
    return absl::OkStatus();
  }
  return InvalidArgument(LabelOf(from), ": has no clip for ", LabelOf(to), ", need at least one");
}

void AppendClips(
    const ImportedScene& from, std::vector<Problem> problems,
    absl::FunctionRef<std::shared_ptr<const Motion>(std::shared_ptr<const Motion>)> convert,
    ImportedScene& to) {
  for (const Problem& problem : from.problems) {
    if (problem.of_meshes) continue;
    problems.push_back(problem);
    problems.back().field = absl::StrCat(LabelOf(from), " ", problem.field);
  }
  to.problems.insert(to.problems.end(), problems.begin(), problems.end());
  auto animation = std::make_shared<AnimatedScene>(*to.animation);
  for (std::size_t c = 0; c < from.clips.size(); ++c) {
    ClipInfo info = from.clips[c];
    info.name = FreeName(from, info.name, to);
    to.clips.push_back(std::move(info));
    animation->clips.push_back(convert(from.animation->clips[c]));
  }
  to.animation = std::move(animation);
}

}  // namespace sinew::client
