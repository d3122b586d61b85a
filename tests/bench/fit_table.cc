// fit_table - fits built-in templates to characters and prints how far the joints are from those of
// the file, in per cent of the height, as a Markdown table; then the same for bodies of capsules.
//
//   fit_table [FILE=TEMPLATE ...]     more files, such as boar.obj=quadruped
//
// Without a folder of shared models (deploy/fetch-models.sh) only the capsules are left. Skins are
// dropped; the files' own joints are those that JointRoles or the list below finds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/import/joint_roles.h"
#include "client/rig/rest_pose.h"
#include "core/fit/fit_skeleton.h"
#include "tests/support/figures.h"
#include "tests/support/paths.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

struct Character {
  std::string file, skeleton;
  std::map<std::string, std::string> joints = {};  // of the template: of the file
};

const Character kCharacters[] = {
    {"RiggedFigure.glb", "human"},
    {"CesiumMan.glb", "human"},
    {"mannequiny.glb", "human"},
    {"MakeHumanBody.glb", "human"},
    {"Horse.glb",
     "horse",
     {{"left_hind_foot", "back_leg_foot_l"},
      {"right_hind_foot", "back_leg_foot_r"},
      {"left_hind_heel", "back_leg_ankle_l"},
      {"right_hind_heel", "back_leg_ankle_r"},
      {"left_fore_knee", "front_leg_lower_l"},
      {"right_fore_knee", "front_leg_lower_r"},
      {"left_fore_foot", "front_leg_foot_l"},
      {"right_fore_foot", "front_leg_foot_r"}}},
    {"maya_kenney_character_7700_binary.fbx", "human"},
    {"maya_kenney_character_4.obj", "human"},
    {"maya_kenney_character_9.obj", "human"},
};

// Each triangle becomes four, `times` over.
void Divide(MeshSource& mesh, int times) {
  for (; times > 0; --times) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [found, added] =
          middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(mesh.positions.size()));
      const Vec3d sum = ToDouble(mesh.positions[a]) + ToDouble(mesh.positions[b]);
      if (added) mesh.positions.push_back(ToFloat(0.5 * sum));
      return found->second;
    };
    const std::vector<std::uint32_t> old = std::move(mesh.face_vertices);
    mesh.face_vertices.clear();
    for (std::size_t t = 0; t < old.size(); t += 3) {
      const std::uint32_t a = old[t], b = old[t + 1], c = old[t + 2];
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      mesh.face_vertices.insert(mesh.face_vertices.end(),
                                {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca});
    }
  }
}

// All meshes at rest as triangles of one mesh.
Mesh RestMesh(const client::RigData& rig, int divided) {
  MeshSource source;
  const std::vector<float> points = client::RestPositions(rig);
  for (std::size_t v = 0; v < points.size(); v += 3) {
    source.positions.push_back({points[v], points[v + 1], points[v + 2]});
  }
  std::uint32_t first = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    const std::size_t faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    const std::uint32_t* corner = mesh.face_vertices.data();
    for (std::size_t f = 0; f < faces; ++f) {
      const std::uint32_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
      for (std::uint32_t k = 2; k < size; ++k) {
        for (const std::uint32_t c : {0u, k - 1, k}) {
          source.face_vertices.push_back(first + corner[c]);
        }
      }
      corner += size;
    }
    first += static_cast<std::uint32_t>(mesh.vertices());
  }
  Divide(source, divided);
  for (std::uint32_t c = 0; c <= source.face_vertices.size(); c += 3) {
    source.face_offsets.push_back(c);
  }
  source.parts = {{.name = "body",
                   .vertex_offset = 0,
                   .vertex_count = static_cast<std::uint32_t>(source.positions.size()),
                   .face_offset = 0,
                   .face_count = static_cast<std::uint32_t>(source.face_vertices.size() / 3)}};
  return ValueOrDie(Mesh::Create(std::move(source)));
}

// [template joints] the joint of the rig that is the same one, or none.
std::vector<std::size_t> OwnJoints(const Character& character,
                                   const fit::SkeletonTemplate& skeleton,
                                   const client::RigData& rig) {
  std::vector<std::string> names, wanted;
  for (const client::Joint& joint : rig.joints) names.push_back(joint.name);
  for (const fit::TemplateJoint& joint : skeleton.joints) wanted.push_back(joint.name);
  const std::vector<client::JointRole> roles = client::JointRoles(names),
                                       wanted_roles = client::JointRoles(wanted);
  std::vector<std::size_t> own;
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    std::size_t found = names.size();
    if (const auto named = character.joints.find(wanted[j]); named != character.joints.end()) {
      found = static_cast<std::size_t>(std::ranges::find(names, named->second) - names.begin());
    } else if (character.joints.empty() && !wanted_roles[j].name.empty()) {
      found = static_cast<std::size_t>(
          std::ranges::find(roles, wanted_roles[j].name, &client::JointRole::name) - roles.begin());
    }
    own.push_back(found);
  }
  return own;
}

constexpr double kMost = 5;  // % of the height

struct Errors {
  double sum = 0, most = 0;
  std::size_t count = 0, over = 0;  // over: by more than kMost
  std::string worst;
  void Add(double error, const std::string& joint) {
    sum += error;
    ++count;
    over += error > kMost ? 1 : 0;
    if (error < most) return;
    most = error;
    worst = joint;
  }
};

void PrintRow(const std::string& name, const std::string& skeleton, std::size_t faces,
              const absl::StatusOr<SkeletonFit>& fitted, const Errors& errors, double seconds) {
  std::printf("| %s | %s | %zu | ", name.c_str(), skeleton.c_str(), faces);
  if (!fitted.ok()) {
    std::printf("%s | | | | %.2f |\n", std::string(fitted.status().message()).c_str(), seconds);
    return;
  }
  std::printf("%.3f | ", fitted->facing.residual);
  if (errors.count == 0) {
    std::printf("| | | ");
  } else {
    std::printf("%.1f | %.1f | %s | ", errors.sum / static_cast<double>(errors.count), errors.most,
                errors.worst.c_str());
  }
  std::printf("%.2f |\n", seconds);
}

template <class Work>
auto Timed(double& seconds, Work work) {
  const auto start = std::chrono::steady_clock::now();
  auto result = work();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void FitCharacter(const Character& character, const std::string& path, int divided = 0) {
  const auto skeleton = ValueOrDie(fit::BuiltInTemplate(character.skeleton));
  const auto file = bake::ReadCharacter(path, {.allow_no_skin = true});
  if (!file.ok()) {
    std::fprintf(stderr, "fit_table: %s\n", std::string(file.status().message()).c_str());
    return;
  }
  const client::RigData& rig = file->rig;
  const Mesh mesh = RestMesh(rig, divided);
  FitOptions options;
  if (rig.up_axis == client::UpAxis::kUnspecified) options.up = FitUp::kUnknown;
  if (rig.up_axis == client::UpAxis::kZ) options.up = FitUp::kZ;
  double seconds = 0;
  const auto fitted = Timed(seconds, [&] {
    Task task;
    return FitSkeleton(mesh, skeleton, options, task);
  });
  Errors errors;
  if (fitted.ok()) {
    const Vec3d size = mesh.maximum() - mesh.minimum();
    const double height = std::abs(Dot(size, fitted->facing.up));
    const std::vector<float> joints = client::RestJoints(rig);
    const std::vector<std::size_t> own = OwnJoints(character, skeleton, rig);
    for (std::size_t j = 0; j < own.size(); ++j) {
      if (own[j] == rig.joints.size()) continue;
      const Vec3d place = Translation(client::MatrixAt(joints, own[j]));
      errors.Add(100 * Length(fitted->places[j] - place) / height, skeleton.joints[j].name);
    }
  }
  PrintRow(file->label, character.skeleton, mesh.faces(), fitted, errors, seconds);
}

void FitCapsules(const char* name) {
  Errors errors;
  double seconds = 0, residual = 0;
  constexpr unsigned kSeeds = 20;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const testing::Figure figure = testing::Perturbed(name, seed);
    double once = 0;
    const SkeletonFit fitted = Timed(once, [&] {
      Task task;
      return ValueOrDie(FitSkeleton(testing::MeshOf(figure.body), figure.skeleton, {}, task));
    });
    seconds += once / kSeeds;
    residual = std::max(residual, fitted.facing.residual);
    for (std::size_t j = 0; j < figure.places.size(); ++j) {
      errors.Add(100 * Length(fitted.places[j] - figure.places[j]) / figure.height,
                 figure.skeleton.joints[j].name);
    }
  }
  std::printf("| %s | %.3f | %.1f | %.1f | %s | %zu of %zu | %.2f |\n", name, residual,
              errors.sum / static_cast<double>(errors.count), errors.most, errors.worst.c_str(),
              errors.over, errors.count, seconds);
}

int Main(int argc, char** argv) {
  constexpr char kHead[] =
      "| character | template | faces | residual | mean error, %% of height | largest | at | "
      "seconds |\n|---|---|---|---|---|---|---|---|\n";
  std::printf(kHead);
  const std::filesystem::path models = testing::SharedData() / "models";
  for (const Character& character : kCharacters) {
    if (std::filesystem::exists(models / character.file)) {
      FitCharacter(character, models / character.file);
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
    FitCharacter({text.substr(0, middle), text.substr(middle + 1)}, text.substr(0, middle));
  }
  if (const auto large = models / "mannequiny.glb"; std::filesystem::exists(large)) {
    FitCharacter({"mannequiny.glb", "human"}, large, 2);
  }
  std::printf(
      "\n| 20 bodies of capsules | largest residual | mean error, %% of height | largest | "
      "at | joints over %.0f %% | seconds |\n|---|---|---|---|---|---|---|\n",
      kMost);
  for (const std::string_view name : fit::BuiltInTemplates()) {
    FitCapsules(std::string(name).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  return sinew::Main(argc, argv);
}
