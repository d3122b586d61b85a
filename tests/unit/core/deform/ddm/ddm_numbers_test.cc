// Known results: the reference table of the tube, and exact arrays from an independent program
// (skipped without them).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/reference/ddm_reference.h"
#include "tests/support/paths.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using reference::DdmReferenceParams;
using testing::BoundDdm;

struct Figures {
  double volume, radius;
};
struct Row {
  std::uint32_t variant;
  Figures bend90, bend135, twist90, twist179;
};
const Row kTable[] = {
    {0, {.950, .454}, {.925, .258}, {.984, .907}, {.913, .029}},
    {1, {.954, .611}, {.920, .257}, {.979, .876}, {.909, .247}},
    {2, {.945, .761}, {.905, .496}, {.983, .907}, {.905, .397}},
    {3, {.940, .707}, {.898, .383}, {.972, .853}, {.887, .215}},
    {4, {.974, .761}, {.954, .496}, {.949, .761}, {.888, .191}},
    {5, {.969, .707}, {.946, .383}, {.939, .707}, {.876, .009}},
};

TEST(DdmNumbers, TubeMatchesReferenceTable) {
  const testing::TubeOptions tube = {.weights = testing::TubeWeights::kRigid};
  const Rig rig = testing::TubeRig(tube);
  const double rest = testing::TubeVolume(tube, testing::RestPoints(rig));
  for (const Row& row : kTable) {
    DdmParams params = testing::ExactParams(1, 16);
    params.variant = row.variant;
    const BoundDdm ddm(rig, params);
    const auto expect = [&](const std::vector<Affine>& pose, const Figures& want) {
      const auto points = ddm.Run(pose);
      EXPECT_NEAR(testing::TubeVolume(tube, points) / rest, want.volume, 2e-3) << row.variant;
      EXPECT_NEAR(testing::TubeMinRadius(tube, points), want.radius, 2e-3) << row.variant;
    };
    expect(testing::BendPose(rig, 90), row.bend90);
    expect(testing::BendPose(rig, 135), row.bend135);
    expect(testing::TwistPose(rig, 90), row.twist90);
    expect(testing::TwistPose(rig, 179), row.twist179);
  }
}

namespace fs = std::filesystem;

fs::path Folder() {
  return testing::SharedData() / "fixtures" / "ddm" / "tube";
}

template <class T>
std::vector<T> ReadArray(const std::string& name) {
  const fs::path path = Folder() / name;
  std::ifstream file(path, std::ios::binary);
  std::vector<T> values(fs::exists(path) ? fs::file_size(path) / sizeof(T) : 0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  EXPECT_TRUE(file.good()) << path;
  return values;
}

std::vector<Vec3d> ReadPoints(const std::string& name) {
  const auto values = ReadArray<double>(name);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i + 2 < values.size(); i += 3)
    points.push_back({values[i], values[i + 1], values[i + 2]});
  return points;
}

std::vector<AffineD> ReadPose(int pose) {
  const auto values = ReadArray<double>("T_pose" + std::to_string(pose) + ".f64");
  std::vector<AffineD> skin(values.size() / 16);
  for (std::size_t j = 0; j < skin.size(); ++j)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(16 * j), 12, skin[j].m.begin());
  return skin;
}

reference::DdmMesh ReadMesh(const std::string& weights) {
  reference::DdmMesh mesh;
  mesh.rest = ReadPoints("V.f64");
  const auto corners = ReadArray<std::int32_t>("F.i32");
  for (std::size_t c = 0; c + 2 < corners.size(); c += 3) {
    mesh.faces.push_back({static_cast<std::uint32_t>(corners[c]),
                          static_cast<std::uint32_t>(corners[c + 1]),
                          static_cast<std::uint32_t>(corners[c + 2])});
  }
  const auto values = ReadArray<double>(weights);
  const auto rows = static_cast<Eigen::Index>(mesh.rest.size());
  mesh.weights =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          values.data(), rows, static_cast<Eigen::Index>(values.size()) / rows);
  return mesh;
}

// The mesh as a rig: float positions and weights, identity bind matrices.
Rig ToRig(const reference::DdmMesh& mesh) {
  std::vector<Vec3f> positions;
  for (const Vec3d& p : mesh.rest) positions.push_back(ToFloat(p));
  RigSource source = testing::RigidSource(std::move(positions), mesh.faces);
  for (std::uint16_t j = 1; j < mesh.weights.cols(); ++j) {
    source.joints.push_back({.name = "joint" + std::to_string(j)});
    source.rest_local.emplace_back();
    source.bindings.push_back({j, AffineD{}});
  }
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}, .fallback = {}};
  for (Eigen::Index v = 0; v < mesh.weights.rows(); ++v) {
    for (Eigen::Index j = 0; j < mesh.weights.cols(); ++j) {
      if (mesh.weights(v, j) == 0) continue;
      source.influences.bindings.push_back(static_cast<std::uint32_t>(j));
      source.influences.weights.push_back(static_cast<float>(mesh.weights(v, j)));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return testing::MakeRig(std::move(source));
}

struct Fixture {
  std::string name, weights;
  std::uint32_t iterations;
  double lambda, kappa, alpha;
  Laplacian laplacian;
};
const Fixture kFixtures[] = {{"exact_A", "W.f64", 20, 3, 1, 0.8, Laplacian::kCotangent},
                             {"exact_B", "W.f64", 8, 1, 0.5, 0, Laplacian::kCotangent},
                             {"exact_C", "W_onehot.f64", 20, 3, 1, 0.8, Laplacian::kCotangent},
                             {"exact_uniform_A", "W.f64", 20, 3, 1, 0.8, Laplacian::kUniform}};

class DdmFixtures : public ::testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    if (!fs::exists(Folder() / "V.f64")) GTEST_SKIP() << "no reference arrays at " << Folder();
  }
  std::vector<Vec3d> Want(int pose) {
    return ReadPoints("ddm_" + GetParam().name + "_pose" + std::to_string(pose) + ".f64");
  }
};

TEST_P(DdmFixtures, ReferenceMatches) {
  const Fixture& f = GetParam();
  DdmReferenceParams params;
  params.laplacian = f.laplacian;
  params.iterations = f.iterations;
  params.lambda = f.lambda;
  params.kappa = f.kappa;
  params.alpha = f.alpha;
  params.cotangents = reference::Cotangents::kRaw;
  const reference::DdmReference ddm(ReadMesh(f.weights), params);
  for (int pose = 0; pose < 3; ++pose) {
    EXPECT_LT(testing::MaxDistance(ddm.Evaluate(ReadPose(pose), false), Want(pose)), 1e-9) << pose;
  }
}

TEST_P(DdmFixtures, FloatKernelMatches) {
  const Fixture& f = GetParam();
  DdmParams params = testing::ExactParams(static_cast<float>(f.lambda), f.iterations);
  params.kappa = static_cast<float>(f.kappa);
  params.alpha = static_cast<float>(f.alpha);
  params.laplacian = f.laplacian;
  const reference::DdmMesh mesh = ReadMesh(f.weights);
  const Rig rig = ToRig(mesh);
  const BoundDdm ddm(rig, params,
                     {.negative = NegativeWeights::kKeep, .tail = {}, .support_tail = {}});
  const reference::DdmReference reference(mesh, DdmReferenceParams(params));
  for (int pose = 0; pose < 3; ++pose) {
    const auto skin = ReadPose(pose);
    std::vector<Affine> joints;
    for (const AffineD& joint : skin) joints.push_back(ToFloat(joint));
    const auto got = ddm.Run(joints), want = Want(pose);
    const auto distinct = reference.Distinctness(skin);
    double worst = 0;
    std::size_t left_out = 0;
    for (std::size_t v = 0; v < got.size(); ++v) {
      if (distinct[v] < 1e-3) {
        ++left_out;
      } else {
        worst = std::max(worst, testing::Distance(got[v], want[v]));
      }
    }
    EXPECT_LT(worst, 1e-5 * rig.mesh().diagonal()) << pose;
    EXPECT_LT(left_out, got.size() / 50);
    RecordProperty("worst_pose" + std::to_string(pose),
                   std::to_string(worst / rig.mesh().diagonal()));
    std::printf("%s pose %d: largest error %.2e of the diagonal, %zu vertices left out\n",
                f.name.c_str(), pose, worst / rig.mesh().diagonal(), left_out);
  }
}

INSTANTIATE_TEST_SUITE_P(Tube, DdmFixtures, ::testing::ValuesIn(kFixtures),
                         [](const auto& fixture) { return fixture.param.name; });

}  // namespace
}  // namespace sinew
