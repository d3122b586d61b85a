// Every real character and every built-in one: uploads, binds, bakes to each format, verifies;
// --local gives the same bits as a server.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kModels[] = {"CesiumMan.glb",
                                   "Horse.glb",
                                   "MakeHumanBody.glb",
                                   "RiggedFigure.glb",
                                   "SimpleSkin.gltf",
                                   "mannequiny.glb",
                                   "maya_kenney_character_7700_binary.fbx",
                                   "model:arm",
                                   "model:hand",
                                   "model:tube"};
constexpr const char* kMethods[] = {"lbs", "dqs", "ddm", "enhanced_ddm"};

class Models : public DaemonTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    ASSERT_FALSE(daemon_->address().empty()) << "sinewd did not start";
    file_ = GetParam();
    if (file_.rfind("model:", 0) == 0) return;
    file_ = (SharedData() / "models" / GetParam()).string();
    if (!std::filesystem::exists(file_))
      GTEST_SKIP() << "no " << GetParam() << " in the shared test data";
  }

  // A few frames, to keep the large ones quick.
  std::vector<std::string> BakeArguments(const std::string& method, const std::string& out) const {
    return {"bake", file_, "--deformer", method, "--frames", "0-8x4", "--out", out, "--json"};
  }

  std::string file_;
};

std::vector<std::uint64_t> Hashes(const std::string& cache) {
  const auto manifest = bake::ParseManifest(ReadAll(cache + ".json"));
  EXPECT_TRUE(manifest.ok()) << manifest.status();
  return manifest.ok() ? manifest->frame_hashes : std::vector<std::uint64_t>();
}

TEST_P(Models, InspectsWithoutErrors) {
  const Finished text = Sinew({"inspect", file_, "--joints"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  const Finished json = Sinew({"inspect", file_, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_GT(report["vertices"], 0);
  EXPECT_FALSE(report["joints"].empty());
  EXPECT_FALSE(report["clips"].empty());
}

TEST_P(Models, UploadsAndBindsToEachMethod) {
  const Finished upload = At({"upload", file_});
  ASSERT_EQ(upload.exit_code, 0) << upload.err;
  EXPECT_THAT(upload.out, StartsWith("rigs/sha256-"));
  const std::string rig = upload.out.substr(0, upload.out.find('\n'));
  const auto inspected = nlohmann::json::parse(Sinew({"inspect", file_, "--json"}).out);
  EXPECT_EQ(inspected["rig"], rig) << "import and upload agree on the bytes";
  const auto again = nlohmann::json::parse(At({"upload", file_, "--json"}).out);
  EXPECT_EQ(again["was_stored"], true);
  for (const char* method : kMethods) {
    const Finished bind = At({"bind", rig, "--deformer", method});
    ASSERT_EQ(bind.exit_code, 0) << method << ": " << bind.err;
    EXPECT_THAT(bind.out, StartsWith("sessions/"));
  }
}

TEST_P(Models, BakesToEachFormatAndVerifies) {
  for (const char* method : {"lbs", "ddm"}) {  // formats do not know methods
    std::vector<std::uint64_t> first;
    for (const char* format : {"pc2", "mdd", "npy"}) {
      const std::string out = folder_ / absl::StrCat(method, ".", format);
      const Finished bake = At(BakeArguments(method, out));
      ASSERT_EQ(bake.exit_code, 0) << method << " " << format << ": " << bake.err;
      EXPECT_EQ(nlohmann::json::parse(bake.out)["frames"], 3);
      const Finished verify = Sinew({"verify", out});
      EXPECT_EQ(verify.exit_code, 0) << verify.err;
      EXPECT_THAT(verify.out, StartsWith("ok "));
      if (first.empty()) first = Hashes(out);
      EXPECT_EQ(Hashes(out), first) << "the hashes do not depend on the format";
    }
    EXPECT_EQ(first.size(), 3U);
  }
}

TEST_P(Models, LocalEqualsRemoteBitForBit) {
  for (const char* method : kMethods) {
    const std::string remote = folder_ / absl::StrCat(method, ".remote.npy");
    const std::string local = folder_ / absl::StrCat(method, ".local.npy");
    ASSERT_EQ(At(BakeArguments(method, remote)).exit_code, 0);
    std::vector<std::string> arguments = BakeArguments(method, local);
    arguments.push_back("--local");
    const Finished bake = Sinew(arguments);
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_EQ(ReadAll(local), ReadAll(remote)) << method;
    EXPECT_EQ(ReadAll(local + ".json"), ReadAll(remote + ".json")) << method;
  }
}

TEST_P(Models, ReorderedFileComesWithRestMesh) {
  const auto report = nlohmann::json::parse(Sinew({"inspect", file_, "--json"}).out);
  const std::string out = folder_ / "walk.pc2";
  const Finished bake = At(BakeArguments("lbs", out));
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_EQ(std::filesystem::exists(folder_ / "walk.rest.obj"),
            report["keeps_file_order"] == false);
  if (report["keeps_file_order"] == true) return;
  EXPECT_THAT(bake.err, HasSubstr("walk.rest.obj"));
  const std::string obj = ReadAll(folder_ / "walk.rest.obj");
  std::size_t vertices = 0;
  for (std::size_t at = 0; at < obj.size(); at = obj.find('\n', at) + 1)
    vertices += obj.compare(at, 2, "v ") == 0;
  EXPECT_EQ(vertices, report["vertices"]);
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::ValuesIn(kModels), NameOf);

}  // namespace
}  // namespace sinew::testing
