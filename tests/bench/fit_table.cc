// fit_table - fits built-in templates to characters and prints how far the joints are from those of
// the file, in per cent of the height, as a Markdown table; then the same for bodies of capsules.
//
//   fit_table [FILE=TEMPLATE ...]     more files, such as boar.obj=quadruped
//
// Without a folder of shared models (deploy/fetch-models.sh) only the capsules are left.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/fit/fit_skeleton.h"
#include "tests/support/figures.h"
#include "tests/support/fitted_characters.h"
#include "tests/support/paths.h"

namespace sinew {
namespace {

using testing::FitCharacter;
using testing::JointError;
using testing::ValueOrDie;

constexpr double kMost = 5;  // % of the height

void PrintCharacter(const FitCharacter& character, const std::filesystem::path& path,
                    int divided = 0) {
  const auto fitted = testing::Fit(character, path, divided);
  if (!fitted.ok()) {
    std::fprintf(stderr, "fit_table: %s\n", std::string(fitted.status().message()).c_str());
    return;
  }
  std::printf("| %s | %s | %zu | ", fitted->label.c_str(), character.skeleton.c_str(),
              fitted->faces);
  if (!fitted->fit.ok()) {
    std::printf("%s | | | | | %.2f |\n", std::string(fitted->fit.status().message()).c_str(),
                fitted->seconds);
    return;
  }
  std::printf("%.3f | ", fitted->fit->facing.residual);
  const std::vector<JointError>& errors = fitted->errors;
  if (std::ranges::any_of(errors, &JointError::published)) {
    std::printf("%.1f", testing::MeanError(errors, true));
  }
  if (errors.empty()) {
    std::printf(" | | | | ");
  } else {
    const JointError worst = *std::ranges::max_element(errors, {}, &JointError::percent);
    std::printf(" | %.1f | %.1f | %s | ", testing::MeanError(errors, false), worst.percent,
                worst.joint.c_str());
  }
  std::printf("%.2f |\n", fitted->seconds);
}

void PrintCapsules(const char* name) {
  std::vector<JointError> errors;
  double seconds = 0, residual = 0;
  std::string worst;
  constexpr unsigned kSeeds = 20;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const testing::Figure figure = testing::Perturbed(name, seed);
    Task task;
    const auto start = std::chrono::steady_clock::now();
    const SkeletonFit fitted =
        ValueOrDie(FitSkeleton(testing::MeshOf(figure.body), figure.skeleton, {}, task));
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    residual = std::max(residual, fitted.facing.residual);
    for (std::size_t j = 0; j < figure.places.size(); ++j) {
      errors.push_back({figure.skeleton.joints[j].name,
                        100 * Length(fitted.places[j] - figure.places[j]) / figure.height});
    }
  }
  const JointError most = *std::ranges::max_element(errors, {}, &JointError::percent);
  const auto over =
      std::ranges::count_if(errors, [](const JointError& error) { return error.percent > kMost; });
  std::printf("| %s | %.3f | %.1f | %.1f | %s | %td of %zu | %.2f |\n", name, residual,
              testing::MeanError(errors, false), most.percent, most.joint.c_str(), over,
              errors.size(), seconds / kSeeds);
}

int Main(int argc, char** argv) {
  std::printf(
      "| character | template | faces | residual | mean of published joints, %% of height | of all "
      "| "
      "largest | at | seconds |\n|---|---|---|---|---|---|---|---|---|\n");
  const std::filesystem::path models = testing::SharedData() / "models";
  for (const FitCharacter& character : testing::FitCharacters()) {
    if (std::filesystem::exists(models / character.file)) {
      PrintCharacter(character, models / character.file);
    } else {
      std::fprintf(stderr, "fit_table: no %s\n", (models / character.file).c_str());
    }
  }
  for (int k = 1; k < argc; ++k) {
    const std::string text = argv[k];
    const std::size_t middle = text.rfind('=');
    if (middle == text.npos || !fit::BuiltInTemplate(text.substr(middle + 1)).ok()) {
      std::fprintf(stderr, "fit_table: got %s, need FILE=human, quadruped, horse or centaur\n",
                   argv[k]);
      return 64;
    }
    PrintCharacter({text.substr(0, middle), text.substr(middle + 1)}, text.substr(0, middle));
  }
  if (const auto large = models / "mannequiny.glb"; std::filesystem::exists(large)) {
    PrintCharacter({"mannequiny.glb", "human"}, large, 2);
  }
  std::printf(
      "\n| 20 bodies of capsules | largest residual | mean error, %% of height | largest | "
      "at | joints over %.0f %% | seconds |\n|---|---|---|---|---|---|---|\n",
      kMost);
  for (const std::string_view name : fit::BuiltInTemplates()) {
    PrintCapsules(std::string(name).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  return sinew::Main(argc, argv);
}
