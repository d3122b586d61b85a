// collada_file.h - small COLLADA files with a skin, as text.
#pragma once

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sinew::testing {

// With all digits.
inline std::string ColladaText(const std::vector<double>& numbers) {
  return absl::StrJoin(numbers, " ", [](std::string* out, double number) {
    absl::StrAppendFormat(out, "%.17g", number);
  });
}

// The params of vectors are X Y Z, further ones P3, P4 and so on.
inline std::string ColladaSource(const std::string& id, const std::vector<double>& numbers,
                                 std::size_t width, const std::string& type = "float") {
  const std::size_t params = type == "float" ? width : 1;
  std::string out = absl::StrCat(
      "<source id=\"", id, "\"><float_array id=\"", id, "-a\" count=\"", numbers.size(), "\">",
      ColladaText(numbers), "</float_array><technique_common><accessor source=\"#", id,
      "-a\" count=\"", numbers.size() / width, "\" stride=\"", width, "\">");
  for (std::size_t i = 0; i < params; ++i) {
    const std::string name = i < 3 ? std::string(1, "XYZ"[i]) : absl::StrCat("P", i);
    absl::StrAppend(&out, "<param name=\"", name, "\" type=\"", type, "\"/>");
  }
  return out + "</accessor></technique_common></source>\n";
}

inline std::string ColladaNames(const std::string& id, const std::vector<std::string>& names) {
  return absl::StrCat("<source id=\"", id, "\"><Name_array id=\"", id, "-a\" count=\"",
                      names.size(), "\">", absl::StrJoin(names, " "),
                      "</Name_array><technique_common><accessor source=\"#", id, "-a\" count=\"",
                      names.size(), "\"><param name=\"N\" type=\"name\"/></accessor>",
                      "</technique_common></source>\n");
}

// A channel with its own animation.
struct ColladaKeys {
  std::string target;
  std::vector<double> times, values;
  std::string kind = "LINEAR";            // of all keys
  std::vector<double> in = {}, out = {};  // tangents
  std::string type = "float";             // of the values
  std::size_t tangent_width = 2;
  std::string sampler_attributes = "";
};

// <animation id="ID">
inline std::string ColladaAnimation(const std::string& id, const ColladaKeys& keys) {
  const auto input = [&](const char* semantic, const char* suffix) {
    return absl::StrCat("<input semantic=\"", semantic, "\" source=\"#", id, suffix, "\"/>");
  };
  const std::size_t width = keys.values.size() / keys.times.size();
  std::string out =
      absl::StrCat("<animation id=\"", id, "\">", ColladaSource(id + "-i", keys.times, 1),
                   ColladaSource(id + "-o", keys.values, width, keys.type),
                   ColladaNames(id + "-k", std::vector<std::string>(keys.times.size(), keys.kind)));
  std::string inputs =
      absl::StrCat(input("INPUT", "-i"), input("OUTPUT", "-o"), input("INTERPOLATION", "-k"));
  if (!keys.in.empty()) {
    absl::StrAppend(&out, ColladaSource(id + "-t", keys.in, keys.tangent_width * width));
    absl::StrAppend(&out, ColladaSource(id + "-u", keys.out, keys.tangent_width * width));
    absl::StrAppend(&inputs, input("IN_TANGENT", "-t"), input("OUT_TANGENT", "-u"));
  }
  return absl::StrCat(out, "<sampler id=\"", id, "-s\"", keys.sampler_attributes, ">", inputs,
                      "</sampler><channel source=\"#", id, "-s\" target=\"", keys.target,
                      "\"/></animation>\n");
}

// Animations "an0", "an1" and so on, one for each channel.
inline std::string ColladaLibrary(const std::vector<ColladaKeys>& channels) {
  std::string out = "<library_animations>";
  for (std::size_t i = 0; i < channels.size(); ++i) {
    absl::StrAppend(&out, ColladaAnimation(absl::StrCat("an", i), channels[i]));
  }
  return out + "</library_animations>";
}

// The nodes of a scene behind `libraries`.
inline std::string ColladaNodes(const std::string& nodes, const std::string& libraries,
                                const std::string& asset = "<up_axis>Y_UP</up_axis>") {
  return absl::StrCat(
      "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
      "version=\"1.4.1\"><asset>",
      asset, "</asset>", libraries, "<library_visual_scenes><visual_scene id=\"scene\">", nodes,
      "</visual_scene></library_visual_scenes><scene><instance_visual_scene "
      "url=\"#scene\"/></scene>"
      "</COLLADA>\n");
}

// The triangle (0, 0, 0), (1, 0, 0), (0, 1, 0), in equal parts on the joints with these sids, whose
// inverse binds are the identity, as is the bind shape matrix, in a scene of `nodes`. `libraries`:
// more of the file, such as animations.
inline std::string ColladaFile(const std::vector<std::string>& joints, const std::string& nodes,
                               const std::string& libraries,
                               const std::string& asset = "<up_axis>Y_UP</up_axis>") {
  std::vector<double> binds;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    binds.insert(binds.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  }
  std::string counts, pairs;
  for (int v = 0; v < 3; ++v) {
    absl::StrAppend(&counts, joints.size(), " ");
    for (std::size_t j = 0; j < joints.size(); ++j) absl::StrAppend(&pairs, j, " 0 ");
  }
  const double weight = 1 / static_cast<double>(joints.size());
  const std::string mesh = absl::StrCat(
      "<library_geometries><geometry id=\"g\"><mesh>",
      ColladaSource("p", {0, 0, 0, 1, 0, 0, 0, 1, 0}, 3),
      "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
      "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p>"
      "</triangles></mesh></geometry></library_geometries>"
      "<library_controllers><controller id=\"c\"><skin source=\"#g\">"
      "<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>",
      ColladaNames("j", joints), ColladaSource("b", binds, 16, "float4x4"),
      ColladaSource("w", {weight}, 1),
      "<joints><input semantic=\"JOINT\" source=\"#j\"/>"
      "<input semantic=\"INV_BIND_MATRIX\" source=\"#b\"/></joints><vertex_weights count=\"3\">"
      "<input semantic=\"JOINT\" source=\"#j\" offset=\"0\"/>"
      "<input semantic=\"WEIGHT\" source=\"#w\" offset=\"1\"/><vcount>",
      counts, "</vcount><v>", pairs, "</v></vertex_weights></skin></controller>",
      "</library_controllers>");
  return ColladaNodes(nodes + "<node id=\"mesh\"><instance_controller url=\"#c\"/></node>",
                      mesh + libraries, asset);
}

}  // namespace sinew::testing
