// What `sinew bake` makes of a file: frames between frames, spaces, vertices without weights.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/collada_file.h"
#include "tests/support/npy_frame.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

class BakeOptions : public ::testing::Test {
 protected:
  // Bakes in a service of its own; --out is `out` in the test's folder.
  Finished Bake(const std::string& file, const std::string& out,
                const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"bake",    file,    "--deformer", "lbs",
                                          "--local", "--out", folder_ / out};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Sinew(arguments);
  }
  std::vector<float> Points(const std::string& out, std::uint32_t frame) const {
    return NpyFrame(ReadAll(folder_ / out), frame);
  }
  bake::Manifest ManifestOf(const std::string& out) const {
    auto manifest = bake::ParseManifest(ReadAll(folder_ / (out + ".json")));
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    return manifest.ok() ? *std::move(manifest) : bake::Manifest();
  }
  std::string Write(const std::string& name, const nlohmann::json& gltf) const {
    WriteAll(folder_ / name, gltf.dump());
    return folder_ / name;
  }

  TemporaryFolder folder_;
};

// A frame with a fraction is a frame at a higher rate.
TEST_F(BakeOptions, TimesEqualFramesOfHigherRate) {
  ASSERT_EQ(Bake("model:hand", "sub.npy", {"--frames", "2,2.25,3"}).exit_code, 0);
  ASSERT_EQ(Bake("model:hand", "all.npy", {"--fps", "96"}).exit_code, 0);
  const bake::Manifest sub = ManifestOf("sub.npy"), all = ManifestOf("all.npy");
  EXPECT_THAT(sub.frame_hashes,
              ElementsAre(all.frame_hashes[8], all.frame_hashes[9], all.frame_hashes[12]));
  EXPECT_THAT(sub.frame_numbers, ElementsAre(2, 2.25, 3));
  EXPECT_EQ(Sinew({"verify", folder_ / "sub.npy"}).exit_code, 0);
  const Finished even = Bake("model:hand", "even.pc2", {"--frames", "1.5-3.5x0.5"});
  EXPECT_EQ(even.exit_code, 0) << even.err;
  EXPECT_EQ(ManifestOf("even.pc2").first_frame, 1.5);
  EXPECT_EQ(ManifestOf("even.pc2").frame_step, 0.5);
  EXPECT_EQ(ManifestOf("even.pc2").frames, 5u);
}

// Each bake has a server of its own.
TEST_F(BakeOptions, AnyRangeHasBitsOfWholeClip) {
  const auto bake = [&](const std::string& frames) {
    const std::string out = frames + ".npy";
    const Finished finished = Sinew({"bake", "model:arm", "--deformer", "implicit_skinning",
                                     "--frames", frames, "--local", "--out", folder_ / out});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return ManifestOf(out).frame_hashes;
  };
  const std::vector<std::uint64_t> whole = bake("0-19");
  ASSERT_EQ(whole.size(), 20u);
  EXPECT_THAT(bake("10-19"), ElementsAreArray(std::span(whole).subspan(10)));
  EXPECT_THAT(bake("2-19x5"), ElementsAre(whole[2], whole[7], whole[12], whole[17]));
  EXPECT_THAT(bake("17"), ElementsAre(whole[17]));
}

TEST_F(BakeOptions, TimesOfFileEqualFramesOfHigherRate) {
  const std::string file = Write("small.gltf", SmallGltf());
  ASSERT_EQ(Bake(file, "sub.npy", {"--frames", "3.5,7.25"}).exit_code, 0);
  ASSERT_EQ(Bake(file, "all.npy", {"--fps", "96"}).exit_code, 0);
  const bake::Manifest all = ManifestOf("all.npy");
  EXPECT_THAT(ManifestOf("sub.npy").frame_hashes,
              ElementsAre(all.frame_hashes[14], all.frame_hashes[29]));
}

TEST_F(BakeOptions, TimesThatCannotBeBakedSayWhy) {
  const struct {
    const char* out;
    std::vector<std::string> options;
    int exit_code;
    const char* says;
  } rows[] = {
      {"a.pc2", {"--frames", "1,1.5,3"}, 65, "or bake .mdd or .npy"},
      {"a.mdd", {"--frames", "1,100.5"}, 65, "--frames: got 100.5; allowed are frames 0-"},
      {"a.mdd", {"--frames", "2.5-1"}, 64, "need a last frame that is not before the first"},
      {"a.mdd", {"--frames", "1.5", "--poses", "p.npy"}, 64, "need whole frames of --poses"},
  };
  for (const auto& row : rows) {
    const Finished bake = Bake("model:hand", row.out, row.options);
    EXPECT_EQ(bake.exit_code, row.exit_code) << bake.err;
    EXPECT_THAT(bake.err, HasSubstr(row.says));
  }
  EXPECT_THAT(folder_.Names(), ::testing::IsEmpty());
}

TEST_F(BakeOptions, NoneOfSeveralDeformersIsBakedIfOneIsWrong) {
  const Finished bake =
      Sinew({"bake", "model:hand", "--deformer", "lbs", "--deformer", "ddm(iterations=-1)",
             "--local", "--out", folder_ / "{deformer}.npy"});
  EXPECT_EQ(bake.exit_code, 65);
  EXPECT_THAT(bake.err, HasSubstr("iterations"));
  EXPECT_THAT(folder_.Names(), ::testing::IsEmpty());
}

// The file places the mesh's node at (5, 0, 0), twice as large: what the glTF specification ignores
// for a skinned mesh, but a program that keeps the object there has to undo.
TEST_F(BakeOptions, ObjectSpaceUndoesPlaceOfObject) {
  nlohmann::json gltf = SmallGltf();
  gltf["nodes"][0]["translation"] = {5, 0, 0};
  gltf["nodes"][0]["scale"] = {2, 2, 2};
  const std::string file = Write("placed.gltf", gltf);
  ASSERT_EQ(Bake(file, "model.npy", {}).exit_code, 0);
  const Finished object = Bake(file, "object.npy", {"--space", "object"});
  ASSERT_EQ(object.exit_code, 0) << object.err;
  const std::vector<float> model = Points("model.npy", 12), own = Points("object.npy", 12);
  ASSERT_EQ(own.size(), model.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    EXPECT_NEAR(own[k], (model[k] - (k % 3 == 0 ? 5 : 0)) / 2, 1e-6);
  }
  EXPECT_EQ(Bake(file, "a.npy", {"--space", "object", "--axes", "blender"}).exit_code, 64);
  EXPECT_EQ(Bake(file, "a.npy", {"--space", "world"}).exit_code, 64);
  gltf["nodes"][0]["scale"] = {2, 0, 2};
  const Finished flat = Bake(Write("flat.gltf", gltf), "a.npy", {"--space", "object"});
  EXPECT_EQ(flat.exit_code, 65);
  EXPECT_THAT(flat.err, HasSubstr("has a scale of 0"));
  EXPECT_THAT(folder_.Names(), Not(Contains("a.npy")));
}

TEST_F(BakeOptions, SerialisedRigHasNoObjectSpace) {
  ASSERT_EQ(Sinew({"export", "model:hand", "--rig", folder_ / "hand.sinewrig", "--poses",
                   folder_ / "p.npy"})
                .exit_code,
            0);
  const Finished bake =
      Bake(folder_ / "hand.sinewrig", "a.npy", {"--poses", folder_ / "p.npy", "--space", "object"});
  EXPECT_EQ(bake.exit_code, 65);
  EXPECT_THAT(bake.err, HasSubstr("does not say where its objects are"));
  const Finished still = Bake(folder_ / "hand.sinewrig", "a.npy",
                              {"--poses", folder_ / "p.npy", "--unweighted", "still"});
  EXPECT_EQ(still.exit_code, 65);
  EXPECT_THAT(still.err, HasSubstr("unweighted: got \"still\""));
}

// Vertex 3, which the tip moves, loses its weights.
TEST_F(BakeOptions, UnweightedVerticesDoWhatIsAsked) {
  nlohmann::json gltf = SmallGltf();
  for (const std::size_t k : {12u, 13u}) SetFloat(gltf, 2, k, 0);
  const std::string file = Write("partly.gltf", gltf);
  const Finished refused = Bake(file, "a.npy", {});
  EXPECT_EQ(refused.exit_code, 65);
  EXPECT_THAT(refused.err, HasSubstr("1 vertex has no weight, the first is 3"));
  EXPECT_THAT(refused.err, HasSubstr("--unweighted root, nearest or still"));
  EXPECT_EQ(Bake(file, "a.npy", {"--unweighted", "all"}).exit_code, 64);

  const auto last = [&](const char* choice) {
    const std::string out = absl::StrCat(choice, ".npy");
    const Finished bake = Bake(file, out, {"--unweighted", choice});
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
    const std::vector<float> points = Points(out, 24);
    return std::vector<float>(points.end() - 3, points.end());
  };
  const std::vector<float> rest = {1, 2, 0};
  EXPECT_EQ(last("root"), rest) << "the root does not move";
  EXPECT_EQ(last("still"), rest);
  EXPECT_NE(last("nearest"), rest);
  const Finished inspect = Sinew({"inspect", file, "--unweighted", "still", "--joints"});
  EXPECT_EQ(inspect.exit_code, 0) << inspect.err;
  EXPECT_THAT(inspect.out, HasSubstr("kept at rest"));
}

// Each COLLADA file has it, so that it is no reason to refuse one.
TEST_F(BakeOptions, StrictAllowsAnotherVertexOrder) {
  const std::string file = folder_ / "hero.dae";
  WriteAll(
      file,
      ColladaFile({"A"}, "<node id=\"a\" sid=\"A\"><translate sid=\"t\">0 0 0</translate></node>",
                  ColladaLibrary({{"a/t.X", {0, 1}, {0, 4}}})));
  const Finished bake = Bake(file, "a.npy", {"--strict"});
  EXPECT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_THAT(bake.err, Not(HasSubstr("warning")));
  EXPECT_THAT(bake.err, HasSubstr("vertices are not in the order of the file: apply the cache to"));
  EXPECT_THAT(folder_.Names(), Contains("a.rest.obj"));
}

}  // namespace
}  // namespace sinew::testing
