// The column COLLADA of the table of formats.
#include <absl/strings/match.h>
#include <absl/strings/str_replace.h>

#include <cstdint>

#include "tests/support/collada_file.h"
#include "tests/unit/client/import/format_table.h"

namespace sinew::client {
namespace {

using testing::ColladaAnimation;
using testing::ColladaFile;

// COLLADA: a triangle on joint "a", which `elements` place.
std::string Collada(const std::string& elements, const std::string& libraries = "") {
  return ColladaFile({"A"}, "<node id=\"a\" sid=\"A\" type=\"JOINT\">" + elements + "</node>",
                     libraries);
}
constexpr char kTranslate[] = "<translate sid=\"t\">0 0 0</translate>";

std::string ColladaKeys(const char* kind, float quarter) {
  testing::ColladaKeys keys{"a/t.X", {0, 1}, {0, 8}, kind};
  if (std::string(kind) == "BEZIER") {
    keys.in = {-1. / 3, 0, 2. / 3, 8};
    keys.out = {1. / 3, 0, 4. / 3, 8};
  }
  const auto scene =
      Import(".dae", Collada(kTranslate, "<library_animations>" + ColladaAnimation("m", keys) +
                                             "</library_animations>"));
  if (!scene.ok())
    return scene.status().message().find("a/t.X") != std::string::npos ? "refused" : "wrong";
  return ReadIf(Near(MovesTo(*scene, 0, 1), {quarter, 0, 0}));
}

}  // namespace

std::vector<Entry> ColladaEntries() {
  std::vector<Entry> out;
  const auto add = [&](const char* feature, const char* state, std::function<std::string()> show) {
    out.push_back({feature, "COLLADA", state, std::move(show)});
  };
  const auto changed = [](const std::vector<std::pair<std::string, std::string>>& edits) {
    return Import(".dae", absl::StrReplaceAll(Collada(kTranslate), edits));
  };
  add("vertex order of the file", "changed", [=] {
    const auto scene = changed({});
    return scene.ok() && !scene->keeps_file_order ? "changed" : "wrong";
  });
  add("polygons of any size", "read", [=] {
    const auto scene =
        changed({{"count=\"9\">0 0 0 1 0 0 0 1 0<", "count=\"12\">0 0 0 1 0 0 1 1 0 0 1 0<"},
                 {"<triangles count=\"1\">", "<polylist count=\"1\">"},
                 {"<p>0 1 2</p></triangles>", "<vcount>4</vcount><p>0 1 2 3</p></polylist>"},
                 {"count=\"3\" stride=\"3\"", "count=\"4\" stride=\"3\""},
                 {"<vertex_weights count=\"3\">", "<vertex_weights count=\"4\">"},
                 {"<vcount>1 1 1 </vcount><v>0 0 0 0 0 0 </v>",
                  "<vcount>1 1 1 1</vcount><v>0 0 0 0 0 0 0 0</v>"}});
    return ReadIf(scene.ok() &&
                  scene->rig.meshes.at(0).face_sizes == std::vector<std::uint32_t>({4}));
  });
  add("more than four influences", "read", [] {
    std::string nodes;
    for (const char* name : {"A", "B", "C", "D", "E"}) {
      absl::StrAppend(&nodes, "<node id=\"", name, "\" sid=\"", name, "\" type=\"JOINT\"/>");
    }
    const auto scene = Import(".dae", ColladaFile({"A", "B", "C", "D", "E"}, nodes, ""));
    return ReadIf(scene.ok() && scene->rig.meshes.at(0).skin.influence_counts.at(0) == 5);
  });
  add("weights that do not sum to 1", "normalised", [=] {
    const auto scene = changed({{"count=\"1\">1</float_array>", "count=\"1\">0.75</float_array>"}});
    const bool ones = scene.ok() && scene->rig.meshes.at(0).skin.influence_weights ==
                                        std::vector<float>({1, 1, 1});
    return ones && Says(*scene, Severity::kWarning, "normalised") ? "normalised" : "wrong";
  });
  add("vertices without weights", "refused", [=] {
    return RefusedIf(changed({{"<vcount>1 1 1 </vcount><v>0 0 0 0 0 0 </v>",
                               "<vcount>1 0 1 </vcount><v>0 0 0 0 </v>"}})
                         .status(),
                     "--unweighted");
  });
  add("meshes without a skin", "read", [] {
    const auto scene =
        Import(".dae", Collada(absl::StrCat(kTranslate,
                                            "<node id=\"hat\"><translate>5 0 0</translate>"
                                            "<instance_geometry url=\"#g\"/></node>")));
    if (!scene.ok() || scene->rig.meshes.size() != 2) return std::string("wrong");
    const Mesh& hat = scene->rig.meshes[scene->rig.meshes[0].name == "hat" ? 0 : 1];
    return ReadIf(scene->rig.joints.size() == 2 &&
                  hat.skin.joints == std::vector<std::uint32_t>({1}));
  });
  add("several characters", "read", [] {
    const std::string one = Collada(kTranslate);
    const std::size_t begin = one.find("<controller"), end = one.find("</library_controllers>");
    const std::string second =
        absl::StrReplaceAll(one.substr(begin, end - begin), {{"id=\"c\"", "id=\"c2\""},
                                                             {"\"j", "\"j2"},
                                                             {"#j", "#j2"},
                                                             {">A<", ">Z<"},
                                                             {"\"b", "\"b2"},
                                                             {"#b", "#b2"},
                                                             {"\"w", "\"w2"},
                                                             {"#w", "#w2"}});
    const auto scene =
        Import(".dae", absl::StrReplaceAll(
                           one, {{"</library_controllers>", second + "</library_controllers>"},
                                 {"<node id=\"mesh\">",
                                  "<node id=\"z\" sid=\"Z\" type=\"JOINT\"/><node id=\"other\">"
                                  "<instance_controller url=\"#c2\"/></node><node id=\"mesh\">"}}));
    return ReadIf(scene.ok() && scene->rig.meshes.size() == 2 && scene->rig.joints.size() == 2);
  });
  add("linear keys", "read", [] { return ColladaKeys("LINEAR", 2); });
  add("stepped keys", "read", [] { return ColladaKeys("STEP", 0); });
  add("cubic keys", "read", [] { return ColladaKeys("BEZIER", 1.25f); });
  add("other kinds of keys", "refused", [] { return ColladaKeys("HERMITE", 0); });
  add("curves of Euler angles", "read", [] {
    const testing::ColladaKeys keys{"a/r.ANGLE", {0, 1}, {0, 180}};
    const auto scene = Import(".dae", Collada("<rotate sid=\"r\">1 0 0 0</rotate>",
                                              "<library_animations>" + ColladaAnimation("m", keys) +
                                                  "</library_animations>"));
    const auto clip = scene.ok() ? SampleClip(*scene, 0, {.fps = 4}) : scene.status();
    return ReadIf(clip.ok() && std::abs(clip->joint_transforms[2 * 12 + 9] - 1) < 1e-5f);
  });
  add("pivots, pre- and post-rotations", "read", [] {
    const auto scene =
        Import(".dae", Collada("<translate>0 1 0</translate><rotate>1 0 0 30</rotate>"
                               "<rotate>1 0 0 60</rotate><translate>0 -1 0</translate>"));
    return ReadIf(scene.ok() && std::abs(scene->rig.rest_local[9] - 1) < 1e-6f &&
                  std::abs(scene->rig.rest_local[11] + 1) < 1e-6f);
  });
  add("transforms of the geometry alone", "read", [=] {
    const auto scene = changed({{"<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0",
                                 "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 7 0"}});
    if (!scene.ok()) return std::string("wrong");
    const Mesh& mesh = scene->rig.meshes.at(0);
    return ReadIf(mesh.skin.inverse_bind[11] + mesh.positions[2] == 7);
  });
  add("morph targets and their keys", "refused", [=] {
    return RefusedIf(
        changed({{"<skin source=\"#g\">", "<morph source=\"#g\"></morph><skin source=\"#g\">"}})
            .status(),
        "morph targets");
  });
  add("unit and up axis", "read", [] {
    const auto scene = Import(
        ".dae", ColladaFile({"A"}, "<node id=\"a\" sid=\"A\" type=\"JOINT\"/>", "",
                            "<unit name=\"inch\" meter=\"0.0254\"/><up_axis>Z_UP</up_axis>"));
    return ReadIf(scene.ok() && std::abs(scene->rig.meters_per_unit - .0254) < 1e-7 &&
                  scene->rig.up_axis == UpAxis::kZ);
  });
  add("face holes", "refused", [=] {
    const auto scene =
        changed({{"<triangles count=\"1\">", "<polygons count=\"1\">"},
                 {"<p>0 1 2</p></triangles>", "<ph><p>0 1 2</p><h>2 1 0</h></ph></polygons>"}});
    return absl::StrContains(scene.status().message(), "a polygon has a hole") ? "refused"
                                                                               : "wrong";
  });
  add("clips in other files", "read", [] {
    const testing::ColladaKeys keys{"a/t.X", {0, 1}, {0, 8}};
    return ClipOf(".dae",
                  testing::ColladaNodes(absl::StrCat("<node id=\"a\">", kTranslate, "</node>"),
                                        "<library_animations>" + ColladaAnimation("m", keys) +
                                            "</library_animations>"),
                  Collada(kTranslate));
  });
  return out;
}

}  // namespace sinew::client
