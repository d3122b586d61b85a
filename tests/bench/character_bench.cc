// character_bench - implicit skinning of whole characters in motion: what binding takes and keeps,
// and frames a second beside what Vaillant et al. 2013 report of a hand on their GPU.
//
//   character_bench                        three hands of 27 k vertices and 60 joints, clenching
//   character_bench body.glb model:hand    the first clip of each
//
// Figures are medians of passes over the clip; contact is the share of vertices that stopped at
// another part, over the frames of the clip. Run it by hand: build/release/bin/character_bench.
#include <malloc.h>
#include <tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/models/models.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/implicit/implicit.h"
#include "core/deform/implicit/project/projection.h"
#include "core/deform/method/fields.h"
#include "core/deform/method/vertex_status.h"
#include "core/simd/target.h"
#include "core/surface/rig_surface.h"
#include "server/convert/rig.h"
#include "sinew/client.h"
#include "tests/support/run_method.h"

namespace sinew {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ValueOrDie;

constexpr std::uint32_t kHands = 3;
constexpr const char* kPaper = "the paper: 31,750 vertices, its GPU, 37 frames a second";

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Character {
  std::string label;
  std::shared_ptr<const Rig> rig;
  std::vector<std::vector<Affine>> poses;
  std::vector<std::vector<float>> controls;
};

Character MakeCharacter(std::string label, const std::string& bytes, const client::ClipData& clip) {
  Character character;
  character.label = std::move(label);
  character.rig = ValueOrDie(server::ConvertRig(bytes, server::RigConfig{})).rig;
  const std::size_t joints = character.rig->joints(), controls = character.rig->controls().size();
  for (std::size_t f = 0; f < clip.frames; ++f) {
    std::vector<Affine>& pose = character.poses.emplace_back(joints);
    for (std::size_t j = 0; j < joints; ++j) {
      std::copy_n(clip.joint_transforms.data() + (f * joints + j) * 12, 12, pose[j].m.begin());
    }
    character.controls.emplace_back(clip.controls.begin() + std::ptrdiff_t(f * controls),
                                    clip.controls.begin() + std::ptrdiff_t((f + 1) * controls));
  }
  return character;
}

// Hands side by side as one mesh, each a third of the clip behind the one before.
Character Hands() {
  const client::Model hand = ValueOrDie(client::Make("hand"));
  const std::size_t frames = hand.clip.frames;
  client::RigData all;
  client::ClipData clip;
  clip.name = "fists";
  clip.frames = frames;
  const client::Mesh& one = hand.rig.meshes.front();
  const std::size_t joints = hand.rig.joints.size();
  client::Mesh mesh;
  mesh.name = "hands";
  for (std::uint32_t k = 0; k < kHands; ++k) {
    const float aside = 0.3f * static_cast<float>(k);
    const auto first = static_cast<std::uint32_t>(mesh.vertices());
    const auto root = static_cast<std::uint32_t>(k * joints);
    for (std::size_t i = 0; i < one.positions.size(); ++i) {
      mesh.positions.push_back(one.positions[i] + (i % 3 == 0 ? aside : 0));
    }
    mesh.face_sizes.insert(mesh.face_sizes.end(), one.face_sizes.begin(), one.face_sizes.end());
    for (const std::uint32_t v : one.face_vertices) mesh.face_vertices.push_back(first + v);
    for (client::Joint joint : hand.rig.joints) {
      joint.name += "_" + std::to_string(k);
      if (joint.parent >= 0) joint.parent += static_cast<std::int32_t>(root);
      all.joints.push_back(std::move(joint));
    }
    for (std::size_t j = 0; j < joints; ++j) {
      mesh.skin.joints.push_back(root + one.skin.joints[j]);
      for (std::size_t i = 0; i < 12; ++i) {
        const bool is_root = hand.rig.joints[j].parent < 0;
        all.rest_local.push_back(hand.rig.rest_local[j * 12 + i] + (is_root && i == 3 ? aside : 0));
        // inverse (x - aside): the translation less what the linear part makes of it.
        const float* inverse = one.skin.inverse_bind.data() + j * 12;
        mesh.skin.inverse_bind.push_back(i % 4 == 3 ? inverse[i] - aside * inverse[i - 3]
                                                    : inverse[i]);
      }
    }
    mesh.skin.influence_counts.insert(mesh.skin.influence_counts.end(),
                                      one.skin.influence_counts.begin(),
                                      one.skin.influence_counts.end());
    for (const std::uint32_t j : one.skin.influence_joints) {
      mesh.skin.influence_joints.push_back(root + j);
    }
    mesh.skin.influence_weights.insert(mesh.skin.influence_weights.end(),
                                       one.skin.influence_weights.begin(),
                                       one.skin.influence_weights.end());
  }
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::uint32_t k = 0; k < kHands; ++k) {
      const std::size_t from = (f + frames - k * (frames / kHands)) % frames;
      for (std::size_t i = 0; i < joints * 12; ++i) {
        clip.joint_transforms.push_back(hand.clip.joint_transforms[from * joints * 12 + i] +
                                        (i % 12 == 3 ? 0.3f * static_cast<float>(k) : 0));
      }
    }
  }
  all.label = mesh.name;
  all.meshes.push_back(std::move(mesh));
  return MakeCharacter("three hands", ValueOrDie(client::EncodeRig(all)), clip);
}

Character ReadFile(const std::string& file) {
  const bake::CharacterFile character = ValueOrDie(bake::ReadCharacter(file));
  return MakeCharacter(character.label, character.rig_bytes,
                       ValueOrDie(bake::ReadMotion(character, {})));
}

// What the projection does: evaluations of the field a vertex, over the clip.
void PrintWork(const Character& character, const Implicit& bound) {
  const Task task;
  std::size_t evaluations = 0;
  for (std::size_t f = 0; f < character.poses.size(); ++f) {
    const testing::PosedMesh in =
        testing::RunMethod<Dqs>(*character.rig, DqsParams{}, character.poses[f]);
    PosedRig posed;
    posed.joints = character.poses[f];
    posed.controls = character.controls[f];
    const auto swollen = bound.muscles.Pose(posed);
    const PosedLimbField field(bound.field, posed, swollen);
    AlignedVector<PointBlock> out(in.blocks.size());
    AlignedVector<float> scratch(ProjectionScratch(bound.skin.points()));
    ProjectionCounts counts;
    const std::vector<Affine> bind_frames = bound.field.BindFrames();
    Project({bound.level, bound.rings, bound.skin, bind_frames, field},
            {.layout = *in.layout,
             .posed = posed,
             .task = task,
             .scratch = scratch,
             .in_is_rest = false,
             .in = in.blocks,
             .out = out},
            &counts);
    evaluations += counts.evaluations;
  }
  std::printf("  evaluations a vertex and frame: %.2f\n",
              static_cast<double>(evaluations) /
                  static_cast<double>(character.poses.size() * character.rig->vertices()));
}

void PrintBytes(const Character& character) {
  const auto layout = ValueOrDie(BlockLayout::Create(*character.rig));
  Task task;
  const Implicit bound = ValueOrDie(
      Implicit::Bind({*character.rig, *layout, RigSurface(*character.rig, *layout)}, {}, task));
  const auto vertices = static_cast<double>(character.rig->vertices());
  const std::size_t skin =
      FieldBytes(bound.skin) + FieldBytes(bound.level) + FieldBytes(bound.rings);
  std::printf("  bound data: %.1f bytes a vertex beyond layout and fields; %zu fields %.0f KB\n",
              static_cast<double>(skin) / vertices, bound.field.parts(),
              static_cast<double>(FieldBytes(bound) - skin) / 1024);
  PrintWork(character, bound);
}

// A recipe bound to the character, moved through the clip.
class Motion {
 public:
  Motion(const Character& character, const std::string& recipe_text, int threads)
      : character_(character),
        threads_(threads),
        positions_(character.rig->vertices() * 12),
        states_(character.rig->vertices()),
        arena_(threads) {
    arena_.execute([&] {
      Task task;
      const auto start = Clock::now();
      deformer_.emplace(
          ValueOrDie(Deformer::Bind(*character.rig, ValueOrDie(ParseRecipe(recipe_text)), task)));
      bind_seconds_ = SecondsSince(start);
    });
  }

  void Pass() {
    arena_.execute([&] {
      const Task task;
      Evaluate(0, task);  // grows the workspace
      contact_ = 0;
      const auto start = Clock::now();
      const std::clock_t cpu = std::clock();
      for (std::size_t f = 0; f < character_.poses.size(); ++f) Evaluate(f, task);
      const auto frames = static_cast<double>(character_.poses.size());
      frame_seconds_.push_back(SecondsSince(start) / frames);
      cpu_seconds_.push_back(static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC / frames);
    });
  }

  void Print(const std::string& recipe_text) const {
    const double frame = Median(frame_seconds_);
    const double vertices =
        static_cast<double>(states_.size()) * static_cast<double>(character_.poses.size());
    std::printf("  %-34s %d %8.2f %10.2f %10.2f %8.1f %10.1f\n", recipe_text.c_str(), threads_,
                bind_seconds_, frame * 1e3, Median(cpu_seconds_) * 1e3, 1 / frame,
                100 * static_cast<double>(contact_) / vertices);
  }

 private:
  void Evaluate(std::size_t f, const Task& task) {
    FrameOut out{.positions = positions_};
    if (deformer_->has_vertex_status()) out.vertex_status = states_;
    const auto status = deformer_->Evaluate(
        {.joints = character_.poses[f], .controls = character_.controls[f]}, out, workspace_, task);
    if (!status.ok()) ValueOrDie<int>(status);
    for (const std::byte of : states_) {
      const auto vertex = static_cast<VertexStatus>(of);
      contact_ += vertex == VertexStatus::kContact || vertex == VertexStatus::kGradientDivergence ||
                          vertex == VertexStatus::kPotentialPit
                      ? 1
                      : 0;
    }
  }

  const Character& character_;
  const int threads_;
  std::vector<std::byte> positions_, states_;
  tbb::task_arena arena_;
  std::optional<Deformer> deformer_;
  Workspace workspace_;
  double bind_seconds_ = 0;
  std::size_t contact_ = 0;
  std::vector<double> frame_seconds_, cpu_seconds_;
};

void Run(const Character& character, const std::vector<std::string>& recipes, int rounds) {
  std::printf("%s: %zu vertices, %zu joints, %zu frames; %s\n", character.label.c_str(),
              character.rig->vertices(), character.rig->joints(), character.poses.size(),
              std::string(IsaName(ActiveIsa())).c_str());
  PrintBytes(character);
  std::printf("  %-34s %s %8s %10s %10s %8s %10s\n", "", "T", "bind s", "frame ms", "CPU ms", "fps",
              "contact %");
  std::vector<std::pair<std::string, std::unique_ptr<Motion>>> motions;
  for (const std::string& recipe_text : recipes) {
    for (const int threads : {1, 2}) {
      motions.emplace_back(recipe_text, std::make_unique<Motion>(character, recipe_text, threads));
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [recipe_text, motion] : motions) motion->Pass();
  }
  for (const auto& [recipe_text, motion] : motions) motion->Print(recipe_text);
  std::printf("  %s\n\n", kPaper);
  std::fflush(stdout);
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  CLI::App app("Implicit skinning of whole characters in motion; medians of interleaved passes.");
  std::vector<std::string> files;
  std::vector<std::string> recipes = {"dqs | implicit"};
  int rounds = 5;
  app.add_option("files", files, "Characters with a clip; none = three hands");
  app.add_option("--recipe", recipes, "Recipes")->allow_extra_args(false);
  app.add_option("--rounds", rounds, "Passes over the clip")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  // What a call frees stays with the program: frames must not be measured by page faults.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
  const sinew::DenormalGuard guard;
  if (files.empty()) sinew::Run(sinew::Hands(), recipes, rounds);
  for (const std::string& file : files) sinew::Run(sinew::ReadFile(file), recipes, rounds);
}
