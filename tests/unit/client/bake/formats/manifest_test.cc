#include "client/bake/formats/manifest.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sinew::bake {
namespace {

using ::testing::HasSubstr;

Manifest Example() {
  Manifest manifest;
  manifest.software_version = "0.1.0";
  manifest.format = "pc2";
  manifest.vertices = 5;
  manifest.frames = 2;
  manifest.fps = 29.97;
  manifest.first_frame = 10;
  manifest.frame_step = 2;
  manifest.meters_per_unit = 0.01;
  manifest.up_axis = "Z";
  manifest.rig = "sha256-aa";
  manifest.recipe = "lbs | delta_mush(iterations=20)";
  manifest.recipe_digest = "sha256-bb";
  manifest.determinism_digest = "lbs.1";
  manifest.source = "hero.glb";
  manifest.source_digest = "sha256-cc";
  manifest.clip = "Walk";
  manifest.clip_source = "walk.fbx";
  manifest.clip_source_digest = "sha256-ff";
  manifest.poses_digest = "sha256-dd";
  manifest.controls_digest = "sha256-ee";
  manifest.space = "object";
  manifest.frame_hashes = {0x0123456789abcdefULL, 7};
  manifest.pose_hashes = {8, 9};
  manifest.meshes = {{"body", 0, 3}, {"eyes \"left\"", 3, 2}};
  return manifest;
}

std::string Message(const std::string& json) {
  const auto manifest = ParseManifest(json);
  if (manifest.ok()) return "accepted";
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(manifest.status().message());
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Manifest, RoundTripsEveryField) {
  Manifest wrote = Example();
  wrote.layout_digest = "0123456789abcdef";
  wrote.start_frame = 1001;
  const auto read = ParseManifest(*EncodeManifest(wrote));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->software_version, wrote.software_version);
  EXPECT_EQ(read->format, wrote.format);
  EXPECT_EQ(read->vertices, wrote.vertices);
  EXPECT_EQ(read->frames, wrote.frames);
  EXPECT_EQ(read->fps, wrote.fps);
  EXPECT_EQ(read->first_frame, wrote.first_frame);
  EXPECT_EQ(read->frame_step, wrote.frame_step);
  EXPECT_EQ(read->meters_per_unit, wrote.meters_per_unit);
  EXPECT_EQ(read->up_axis, wrote.up_axis);
  EXPECT_EQ(read->rig, wrote.rig);
  EXPECT_EQ(read->recipe, wrote.recipe);
  EXPECT_EQ(read->recipe_digest, wrote.recipe_digest);
  EXPECT_EQ(read->determinism_digest, wrote.determinism_digest);
  EXPECT_EQ(read->source, wrote.source);
  EXPECT_EQ(read->source_digest, wrote.source_digest);
  EXPECT_EQ(read->clip, wrote.clip);
  EXPECT_EQ(read->clip_source, wrote.clip_source);
  EXPECT_EQ(read->clip_source_digest, wrote.clip_source_digest);
  EXPECT_EQ(read->poses_digest, wrote.poses_digest);
  EXPECT_EQ(read->controls_digest, wrote.controls_digest);
  EXPECT_EQ(read->space, wrote.space);
  EXPECT_EQ(read->layout_digest, wrote.layout_digest);
  EXPECT_EQ(read->start_frame, wrote.start_frame);
  EXPECT_EQ(read->frame_hashes, wrote.frame_hashes);
  EXPECT_EQ(read->pose_hashes, wrote.pose_hashes);
  ASSERT_EQ(read->meshes.size(), 2u);
  EXPECT_EQ(read->meshes[1].name, "eyes \"left\"");
  EXPECT_EQ(read->meshes[1].first_vertex, 3u);
  EXPECT_EQ(read->meshes[1].vertices, 2u);
}

TEST(Manifest, ReadsThoseOfEarlierVersions) {
  Manifest earlier = Example();
  earlier.source = earlier.source_digest = earlier.clip = earlier.poses_digest =
      earlier.controls_digest = earlier.space = earlier.layout_digest = earlier.clip_source =
          earlier.clip_source_digest = "";
  earlier.start_frame = 0;
  earlier.pose_hashes.clear();
  const std::string json = *EncodeManifest(earlier);
  for (const char* key :
       {"source", "clip", "space", "layout_digest", "start_frame", "pose_hashes"}) {
    EXPECT_EQ(json.find(absl::StrCat("\"", key, "\"")), std::string::npos) << key;
  }
  const auto read = ParseManifest(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->clip, "");
}

TEST(Manifest, EverythingButFramesAndFilesIsTheOrigin) {
  const Manifest manifest = Example();
  const auto difference = [&](auto&& change) {
    Manifest other = manifest;
    change(other);
    const auto found = OriginDifference(manifest, other);
    return found ? absl::StrCat(found->what, " '", found->a, "' '", found->b, "'") : "none";
  };
  EXPECT_EQ(difference([](Manifest& m) {
              m.format = "usda";
              m.frames = 1;
              m.first_frame = 12;
              m.frame_step = 0.5;
              m.frame_numbers = {12};
              m.frame_hashes = {7};
              m.pose_hashes = {9};
              m.files = {{"hero.usda", 1, 2}};
              m.source = "renamed.glb";
              m.clip_source = "renamed.fbx";
            }),
            "none");
  EXPECT_EQ(difference([](Manifest& m) { m.recipe = "lbs"; }),
            "recipe 'lbs | delta_mush(iterations=20)' 'lbs'");
  EXPECT_EQ(difference([](Manifest& m) { m.software_version = "9"; }),
            "software version '0.1.0' '9'");
  EXPECT_EQ(difference([](Manifest& m) { m.fps = 24; }), "frames a second '29.97' '24.0'");
  EXPECT_EQ(difference([](Manifest& m) { m.meters_per_unit = 1; }),
            "units meters per unit '0.01' '1.0'");
  EXPECT_EQ(difference([](Manifest& m) { m.clip_source_digest = "x"; }),
            "digest of the clip's file 'sha256-ff' 'x'");
  EXPECT_EQ(difference([](Manifest& m) { m.layout_digest = "x"; }),
            "digest of space and texture coordinates 'none' 'x'");
  EXPECT_EQ(difference([](Manifest& m) { m.start_frame = 1001; }), "start frame 'none' '1001'");
  EXPECT_EQ(difference([](Manifest& m) { m.shutter = {.open = 0, .close = 1, .samples = 3}; }),
            "shutter open 'none' '0.0'");
  EXPECT_EQ(difference([](Manifest& m) { m.velocity_step = 1; }), "velocity step 'none' '1.0'");
  EXPECT_EQ(difference([](Manifest& m) {
              m.attributes = {{"normals", {1}}};
            }),
            "attributes 0 name 'none' 'normals'");
  EXPECT_EQ(difference([](Manifest& m) { m.meshes[1].name = "eyes"; }),
            "meshes 1 name 'eyes \"left\"' 'eyes'");
  // One that is not of a file has but its name.
  Manifest model = manifest, other = manifest;
  model.source_digest = other.source_digest = "";
  other.source = "model:arm";
  EXPECT_EQ(OriginDifference(model, other)->what, "character");
}

TEST(Manifest, PoseHashIsThatOfTransformsAndControls) {
  const std::vector<float> transforms = {1, 2, 3}, controls = {4}, all = {1, 2, 3, 4};
  EXPECT_EQ(HashPose(transforms, controls), HashPositions(all));
}

TEST(Manifest, HashesHaveSixteenHexDigits) {
  const std::string json = *EncodeManifest(Example());
  EXPECT_THAT(json, HasSubstr("\"0123456789abcdef\""));
  EXPECT_THAT(json, HasSubstr("\"0000000000000007\""));
  EXPECT_EQ(json, *EncodeManifest(Example()));
}

TEST(Manifest, PositionHashIsXxh3) {
  // XXH3-64 of no bytes with seed 0.
  EXPECT_EQ(HashPositions({}), 0x2d06800538d394c2ULL);
  const std::vector<float> a = {1, 2, 3}, b = {1, 2, 3.0000002f};
  EXPECT_EQ(HashPositions(a), HashPositions(std::vector<float>(a)));
  EXPECT_NE(HashPositions(a), HashPositions(b));
}

TEST(Manifest, IgnoresUnknownKeys) {
  const std::string json = Replace(*EncodeManifest(Example()), "{", "{\"later\": [1, {\"x\": 2}],");
  EXPECT_EQ(Message(json), "accepted");
}

TEST(Manifest, ReplacesInvalidUtf8InNames) {
  Manifest manifest = Example();
  manifest.meshes[0].name = "caf\xe9";
  const auto json = EncodeManifest(manifest);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(ParseManifest(*json)->meshes[0].name, "caf\xef\xbf\xbd");
}

TEST(Manifest, RejectsCorruptedJson) {
  const std::string json = *EncodeManifest(Example());
  const struct {
    std::string json;
    const char* says;
  } table[] = {
      {"", "invalid JSON"},
      {"[]", "need a JSON object"},
      {"null", "need a JSON object"},
      {std::string(100000, '['), "invalid JSON"},
      {json + "x", "invalid JSON"},
      {json.substr(0, json.size() / 2), "invalid JSON"},
      {Replace(json, "\"manifest_version\": 1", "\"manifest_version\": 2"), "version: 2, need 1"},
      {Replace(json, "\"manifest_version\": 1", "\"manifest_version\": \"1\""), "whole number"},
      {Replace(json, "\"vertices\": 5", "\"vertices\": -5"), "manifest.vertices"},
      {Replace(json, "\"vertices\": 5", "\"vertices\": 5.5"), "manifest.vertices"},
      {Replace(json, "\"vertices\": 5", "\"vertices\": 6"), "5 vertices in all, need 6"},
      {Replace(json, "\"frames\": 2", "\"frames\": 3"), "2, need 3"},
      {Replace(json, "\"fps\": 29.97", "\"fps\": 0"), "manifest.fps"},
      {Replace(json, "\"fps\": 29.97", "\"fps\": null"), "manifest.fps"},
      {Replace(json, "\"up_axis\": \"Z\"", "\"up_axis\": \"X\""), "'X'"},
      {Replace(json, "\"units\": {", "\"units\": 1, \"u\": {"), "manifest.units"},
      {Replace(json, "\"recipe_text\"", "\"spek\""), "manifest.recipe.recipe_text"},
      {Replace(json, "\"first_vertex\": 3", "\"first_vertex\": 2"), "need to start at 3"},
      {Replace(json, "\"first_vertex\": 3", "\"first_vertex\": \"3\""), "meshes[1].first_vertex"},
      {Replace(json, "\"vertices\": 3", "\"vertices\": 18446744073709551615"), "end by 5"},
      {Replace(json, "0123456789abcdef", "0123456789abcde"), "frame_hashes[0]"},
      {Replace(json, "0123456789abcdef", "0123456789abcdeg"), "frame_hashes[0]"},
      {Replace(json, "0123456789abcdef", "-123456789abcdef"), "frame_hashes[0]"},
      {Replace(json, "\"0000000000000007\"", "7"), "frame_hashes[1]"},
  };
  for (const auto& row : table) EXPECT_THAT(Message(row.json), HasSubstr(row.says));
}

TEST(Manifest, RejectsEveryTruncation) {
  std::string json = *EncodeManifest(Example());
  json.pop_back();  // the final newline is not needed
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_NE(Message(json.substr(0, size)), "accepted") << size;
  }
}

TEST(Manifest, EncodeRejectsInconsistentCounts) {
  const auto refused = [](auto change) {
    Manifest manifest = Example();
    change(manifest);
    return EncodeManifest(manifest).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](Manifest& m) { m.frames = 3; }));
  EXPECT_TRUE(refused([](Manifest& m) { m.vertices = 4; }));
  EXPECT_TRUE(refused([](Manifest& m) { m.meshes.clear(); }));
  EXPECT_TRUE(refused([](Manifest& m) { m.fps = std::nan(""); }));
  EXPECT_TRUE(refused([](Manifest& m) { m.first_frame = INFINITY; }));
  EXPECT_TRUE(refused([](Manifest& m) { m.frame_step = 0; }));
  EXPECT_TRUE(refused([](Manifest& m) { m.meters_per_unit = -1; }));
  EXPECT_TRUE(refused([](Manifest& m) { m.up_axis = "up"; }));
}

}  // namespace
}  // namespace sinew::bake
