// The C++ client library against the conformance cases, on a real server.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/bake/formats/npy.h"
#include "core/base/digest.h"
#include "sinew/client.h"
#include "sinew/local_server.h"
#include "tests/support/paths.h"

namespace sinew::client {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_TRUE(file.good()) << path;
  return std::move(bytes).str();
}

// The values of an array, of floats or doubles.
template <class T>
std::vector<T> ReadNpy(const fs::path& path) {
  const std::string bytes = ReadFile(path);
  const auto header = bake::ParseNpyHeader(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(header.ok()) << path << ": " << header.status();
  if (!header.ok() || header->value_bytes != sizeof(T)) {
    ADD_FAILURE() << path << ": need values of " << sizeof(T) << " bytes";
    return {};
  }
  std::vector<T> values((bytes.size() - header->data_offset) / sizeof(T));
  std::memcpy(values.data(), bytes.data() + header->data_offset, values.size() * sizeof(T));
  return values;
}

// The folder of the cases and the expected bits; see CMakeLists.txt.
fs::path PathOf(const char* variable) {
  const char* path = std::getenv(variable);
  return path == nullptr ? "" : path;
}

// The largest distance over the nearest `share` of the vertices.
double Farthest(std::span<const float> got, std::span<const double> expected, double share) {
  std::vector<double> distances;
  for (std::size_t k = 0; k + 2 < got.size(); k += 3) {
    distances.push_back(std::hypot(double{got[k]} - expected[k],
                                   double{got[k + 1]} - expected[k + 1],
                                   double{got[k + 2]} - expected[k + 2]));
  }
  std::ranges::sort(distances);
  const double count = std::ceil(share * static_cast<double>(distances.size()));
  return distances[static_cast<std::size_t>(count) - 1];
}

std::string HashOf(std::span<const float> positions) {
  static_assert(std::endian::native == std::endian::little);
  return Sha256Hex({reinterpret_cast<const char*>(positions.data()), positions.size_bytes()});
}

struct Counts {
  std::size_t cases = 0, references = 0, near = 0, equal = 0, other_digest = 0;
};

class Conformance : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(folder_.empty()) << "run it with ctest, which sets SINEW_CONFORMANCE_CASES";
    index_ = nlohmann::json::parse(ReadFile(folder_ / "index.json"));
    expected_ = nlohmann::json::parse(ReadFile(PathOf("SINEW_CONFORMANCE_EXPECTED")))["cases"];
    auto server = LocalServer::Start({.program = testing::ProgramPath("sinewd")});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::make_unique<LocalServer>(*std::move(server));
    auto client = Client::Connect({.address = server_->address()});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = std::make_unique<Client>(*std::move(client));
  }

  // The positions of all frames as a clip, one after the other.
  std::vector<float> ClipOf(const Character& character, const ClipPoses& poses) {
    std::vector<float> positions;
    const absl::Status status =
        character.DeformClip(poses, {}, [&](const StreamItem& item) -> absl::Status {
          if (!item.problem.ok()) return item.problem;
          const std::size_t start = positions.size();
          positions.resize(start + item.view.vertices() * 3);
          return item.view.CopyPositions(std::span(positions).subspan(start));
        });
    EXPECT_TRUE(status.ok()) << status;
    return positions;
  }

  void Check(const nlohmann::json& entry) {
    const nlohmann::json& rig = index_["rigs"][entry["rig"].get<std::string>()];
    const nlohmann::json& bits = expected_[entry["name"].get<std::string>()];
    const std::size_t frames = rig["frames"].size();
    const std::size_t floats = 3 * rig["vertices"].get<std::size_t>();
    const auto joints = ReadNpy<float>(folder_ / rig["poses"].get<std::string>());
    std::vector<float> controls;
    if (rig.contains("controls")) {
      controls = ReadNpy<float>(folder_ / rig["controls"].get<std::string>());
    }
    const auto character =
        Character::Create(*client_, ReadFile(folder_ / rig["rig"].get<std::string>()),
                          entry["recipe"].get<std::string>());
    ASSERT_TRUE(character.ok()) << character.status();
    const std::vector<float> clip =
        ClipOf(*character, {.joint_transforms = joints, .controls = controls, .frames = frames});
    ASSERT_EQ(clip.size(), frames * floats);
    const auto frame_of = [&](std::size_t k) {
      return std::span(clip).subspan(k * floats, floats);
    };

    ++counts_.cases;
    if (entry.contains("reference")) {
      ++counts_.references;
      const nlohmann::json& near = entry["reference"];
      const auto want = ReadNpy<double>(folder_ / near["positions"].get<std::string>());
      ASSERT_EQ(want.size(), clip.size());
      for (std::size_t k = 0; k < frames; ++k) {
        ASSERT_LE(Farthest(frame_of(k), std::span(want).subspan(k * floats, floats),
                           near["share"].get<double>()),
                  near["distance"].get<double>())
            << rig["frames"][k];
      }
      ++counts_.near;
    }
    const std::size_t pose = joints.size() / frames, values = controls.size() / frames;
    const auto one = character->Deform({}, {.joint_transforms = std::span(joints).last(pose),
                                            .controls = std::span(controls).last(values)});
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ(HashOf(one->Positions().value()), HashOf(frame_of(frames - 1)));
    if (character->session().determinism_digest != bits["determinism_digest"].get<std::string>()) {
      ++counts_.other_digest;
      return;
    }
    for (std::size_t k = 0; k < frames; ++k) {
      ASSERT_EQ(HashOf(frame_of(k)), bits["positions"][k].get<std::string>()) << rig["frames"][k];
    }
    ++counts_.equal;
  }

  const fs::path folder_ = PathOf("SINEW_CONFORMANCE_CASES");
  nlohmann::json index_, expected_;
  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<Client> client_;
  Counts counts_;
};

TEST_F(Conformance, AllCases) {
  for (const nlohmann::json& entry : index_["cases"]) {
    SCOPED_TRACE(entry["name"].get<std::string>());
    Check(entry);
  }
  std::printf(
      "conformance: C++ client: %zu of %zu cases near their reference, %zu of %zu with equal "
      "bits\n",
      counts_.near, counts_.references, counts_.equal, counts_.cases);
  if (counts_.other_digest > 0) {
    std::printf(
        "conformance: C++ client: the bits of %zu cases are not compared: this machine has another "
        "determinism digest\n",
        counts_.other_digest);
  }
  EXPECT_GT(counts_.cases, 0u);
  EXPECT_EQ(server_->Stop(), 0);
}

}  // namespace
}  // namespace sinew::client
