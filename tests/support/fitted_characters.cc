#include "tests/support/fitted_characters.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "client/bake/character/character_file.h"
#include "client/import/joint_roles.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/fit/skeleton_template.h"
#include "tests/support/run_method.h"

namespace sinew::testing {
namespace {

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
std::vector<std::size_t> OwnJoints(const FitCharacter& character,
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

// Without the side.
constexpr const char* kPublishedOfHuman[] = {"hips",     "thigh", "knee", "ankle",
                                             "shoulder", "elbow", "hand"};
constexpr const char* kPublishedOfHorse[] = {"hind_foot", "fore_foot", "hind_heel", "fore_knee"};

bool IsPublished(const std::string& skeleton, std::string joint) {
  for (const char* side : {"left_", "right_"}) {
    if (joint.starts_with(side)) joint.erase(0, std::string(side).size());
  }
  const auto in = [&](std::span<const char* const> list) {
    return std::ranges::find(list, joint) != list.end();
  };
  return (skeleton == "human" && in(kPublishedOfHuman)) ||
         (skeleton == "horse" && in(kPublishedOfHorse));
}

}  // namespace

std::span<const FitCharacter> FitCharacters() {
  // The feet of the template stand on the ground; those of the file are its fetlocks.
  static const FitCharacter kCharacters[] = {
      {"RiggedFigure.glb", "human", {}, 5.2, 13.2},
      {"CesiumMan.glb", "human", {}, 4.5, 11.1},
      {"mannequiny.glb", "human", {}, 4.7, 8.9},
      {"MakeHumanBody.glb", "human", {}, 3.8, 9.1},
      {"Horse.glb",
       "horse",
       {{"hips", "hips"},
        {"left_thigh", "back_leg_upper_l"},
        {"right_thigh", "back_leg_upper_r"},
        {"left_hind_knee", "back_leg_lower_l"},
        {"right_hind_knee", "back_leg_lower_r"},
        {"left_hind_heel", "back_leg_ankle_l"},
        {"right_hind_heel", "back_leg_ankle_r"},
        {"left_hind_foot", "back_leg_leaf_l"},
        {"right_hind_foot", "back_leg_leaf_r"},
        {"left_fore_knee", "front_leg_lower_l"},
        {"right_fore_knee", "front_leg_lower_r"},
        {"left_fore_foot", "front_leg_leaf_l"},
        {"right_fore_foot", "front_leg_leaf_r"},
        {"tail", "tail_leaf"}},
       2,
       2},
      {"maya_kenney_character_7700_binary.fbx", "human"},
      {"maya_kenney_character_4.obj", "human"},
      {"maya_kenney_character_9.obj", "human"},
  };
  return kCharacters;
}

double MeanError(std::span<const JointError> errors, bool published) {
  double sum = 0, count = 0;
  for (const JointError& error : errors) {
    if (published && !error.published) continue;
    sum += error.percent;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

absl::StatusOr<FittedCharacter> Fit(const FitCharacter& character,
                                    const std::filesystem::path& path, int divided) {
  const auto skeleton = ValueOrDie(fit::BuiltInTemplate(character.skeleton));
  SINEW_ASSIGN_OR_RETURN(const auto file, bake::ReadCharacter(path, {.allow_no_skin = true}));
  const client::RigData& rig = file.rig;
  const Mesh mesh = RestMesh(rig, divided);
  FitOptions options;
  if (rig.up_axis == client::UpAxis::kUnspecified) options.up = FitUp::kUnknown;
  if (rig.up_axis == client::UpAxis::kZ) options.up = FitUp::kZ;
  Task task;
  const auto start = std::chrono::steady_clock::now();
  FittedCharacter fitted{.label = file.label,
                         .faces = mesh.faces(),
                         .fit = FitSkeleton(mesh, skeleton, options, task),
                         .errors = {}};
  fitted.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!fitted.fit.ok()) return fitted;
  const Vec3d size = mesh.maximum() - mesh.minimum();
  const double height = std::abs(Dot(size, fitted.fit->facing.up));
  const std::vector<float> joints = client::RestJoints(rig);
  const std::vector<std::size_t> own = OwnJoints(character, skeleton, rig);
  for (std::size_t j = 0; j < own.size(); ++j) {
    if (own[j] == rig.joints.size()) continue;
    const Vec3d place = Translation(client::MatrixAt(joints, own[j]));
    const std::string& name = skeleton.joints[j].name;
    fitted.errors.push_back({name, 100 * Length(fitted.fit->places[j] - place) / height,
                             IsPublished(character.skeleton, name)});
  }
  return fitted;
}

}  // namespace sinew::testing
