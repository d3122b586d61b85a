// Delta Mush against Blender's Corrective Smooth, whose frames differ (one per face corner).
// Skipped without the data.
#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tests/reference/delta_mush_reference.h"
#include "tests/support/fixture_files.h"
#include "tests/support/paths.h"
#include "tests/unit/core/deform/delta_mush/posed_stage.h"

namespace sinew {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string input;  // file with the modifier's input points
  reference::CorrectiveSmoothOptions options;
};

// dqs_cs_simple_f0.5_i10_only_s0.5: input, weights, factor, iterations, options.
Case ReadName(const std::string& name) {
  Case c;
  c.input = name.starts_with("dqs_") ? "dqs.f64" : "lbs.f64";
  c.options.length_weighted = name.find("_length_") != std::string::npos;
  c.options.only_smooth = name.find("_only") != std::string::npos;
  c.options.pin = name.find("_pin") != std::string::npos;
  const auto number = [&](const char* tag, auto& value) {
    const std::size_t at = name.rfind(tag);
    if (at == std::string::npos) return;
    const char* from = name.data() + at + std::string_view(tag).size();
    std::from_chars(from, name.data() + name.size(), value);
  };
  number("_f", c.options.factor);
  number("_i", c.options.iterations);
  number(name.find("_s0") != std::string::npos ? "_s" : "no scale", c.options.scale);
  return c;
}

template <class Visit>
int VisitCases(const fs::path& root, Visit visit) {
  int cases = 0;
  for (const auto& file : fs::recursive_directory_iterator(root)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".f64" || name.find("cs_") == std::string::npos) continue;
    visit(file.path(), ReadName(name));
    ++cases;
  }
  return cases;
}

fs::path Root() {
  return testing::SharedData() / "fixtures" / "blender";
}

struct Fixture {
  explicit Fixture(const fs::path& file, const Case& c)
      : folder(file.parent_path().parent_path()),
        pose(testing::ReadPose(file.parent_path() / "skin.f64")),
        faces(testing::ReadFaces(folder / "face_sizes.i32", folder / "face_indices.i32")),
        posed(testing::ReadPoints(file.parent_path() / c.input)),
        want(testing::ReadPoints(file)),
        rig(testing::ReadRig(folder / "rest.f64", folder / "weights.f64", pose.size(), faces)) {}
  fs::path folder;
  std::vector<Affine> pose;
  std::vector<std::vector<std::size_t>> faces;
  std::vector<Vec3d> posed, want;
  Rig rig;
};

// The reference reproduces the modifier.
TEST(CorrectiveSmooth, ReferenceMatchesBlender) {
  if (!fs::exists(Root())) GTEST_SKIP() << "no fixtures at " << Root();
  const int cases = VisitCases(Root(), [](const fs::path& file, const Case& c) {
    const Fixture f(file, c);
    const auto rest = testing::ReadPoints(f.folder / "rest.f64");
    const auto got = reference::CorrectiveSmooth(f.faces, rest, f.posed, c.options);
    EXPECT_LT(testing::MaxDistance(got, f.want), 1e-6 * f.rig.mesh().diagonal()) << file;
  });
  EXPECT_GE(cases, 50);
}

// Smoothing alone with uniform weights is the same operator. With detail the frames differ;
// Blender's length weighting uses the pose's edges and is weaker by the valence.
TEST(CorrectiveSmooth, DeltaMushDiffersOnlyInFrames) {
  if (!fs::exists(Root())) GTEST_SKIP() << "no fixtures at " << Root();
  std::map<std::string, double> farthest;
  VisitCases(Root(), [&](const fs::path& file, const Case& c) {
    const Fixture f(file, c);
    const DeltaMushParams params = {
        .iterations = static_cast<std::uint32_t>(c.options.iterations),
        .step = static_cast<float>(c.options.factor),
        .laplacian = MushLaplacian::kUniform,
        .displacement = c.options.only_smooth ? 0 : static_cast<float>(c.options.scale),
        .pin_borders = c.options.pin,
        .keep_area = 0};
    const auto got = testing::MushOf(f.rig, params, f.pose, f.posed);
    const double distance = testing::MaxDistance(got, f.want) / f.rig.mesh().diagonal();
    if (!c.options.length_weighted && c.options.only_smooth) {
      EXPECT_LT(distance, 1e-6) << file;
    } else {
      EXPECT_LT(distance, 0.1) << file;
    }
    double& most = farthest[file.parent_path().filename().string() + " " + file.stem().string()];
    most = std::max(most, distance);
  });
  for (const auto& [name, distance] : farthest) {
    std::printf("%-40s %.1e\n", name.c_str(), distance);
  }
}

}  // namespace
}  // namespace sinew
