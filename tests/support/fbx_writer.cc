#include "tests/support/fbx_writer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <bit>
#include <cmath>

namespace sinew::testing {
namespace {

constexpr double kTicks = 46186158000;

std::int64_t Ticks(double seconds) {
  return std::llround(seconds * kTicks);
}

std::int32_t Bits(double value) {
  return std::bit_cast<std::int32_t>(static_cast<float>(value));
}

std::string Number(double value) {
  return absl::StrFormat("%.17g", value);
}

template <class T>
std::string Array(const std::string& name, const std::vector<T>& values) {
  const auto append = [](std::string* out, const T& value) {
    absl::StrAppend(out, Number(static_cast<double>(value)));
  };
  return absl::StrCat("  ", name, ": *", values.size(),
                      " {\n   a: ", absl::StrJoin(values, ",", append), "\n  }\n");
}

std::string Properties(const std::string& lines) {
  return absl::StrCat("  Properties70:  {\n", lines, "  }\n");
}

int FlagsOf(FbxWriter::Curve curve) {
  switch (curve) {
    case FbxWriter::Curve::kStep:
      return 0x2;
    case FbxWriter::Curve::kStepNext:
      return 0x102;
    case FbxWriter::Curve::kLinear:
      return 0x4;
    case FbxWriter::Curve::kCubicAuto:
      return 0x108;
    default:
      return 0x408;
  }
}

}  // namespace

std::string FbxWriter::Property(const std::string& name, const std::string& type,
                                const std::vector<double>& values) {
  const auto append = [](std::string* out, double value) { absl::StrAppend(out, Number(value)); };
  return absl::StrCat("   P: \"", name, "\", \"", type, "\", \"\", \"A\",",
                      absl::StrJoin(values, ",", append), "\n");
}

FbxWriter::FbxWriter(int up_axis, double centimetres_per_unit) {
  const std::vector<std::pair<std::string, int>> axes = {{"UpAxis", up_axis},
                                                         {"UpAxisSign", 1},
                                                         {"FrontAxis", up_axis == 1 ? 2 : 1},
                                                         {"FrontAxisSign", up_axis == 1 ? 1 : -1},
                                                         {"CoordAxis", 0},
                                                         {"CoordAxisSign", 1}};
  for (const auto& [name, value] : axes) settings_ += Property(name, "int", {double(value)});
  settings_ += Property("UnitScaleFactor", "double", {centimetres_per_unit});
}

void FbxWriter::Connect(Id child, Id parent, const std::string& property) {
  absl::StrAppend(&connections_, " C: \"", property.empty() ? "OO" : "OP", "\",", child, ",",
                  parent, property.empty() ? "" : absl::StrCat(", \"", property, "\""), "\n");
}

FbxWriter::Id FbxWriter::AddModel(const std::string& name, const std::string& kind, Id parent,
                                  const std::string& properties) {
  const Id id = NewId();
  absl::StrAppend(&objects_, " Model: ", id, ", \"Model::", name, "\", \"", kind, "\" {\n",
                  Properties(properties), " }\n");
  if (kind == "LimbNode") {
    const Id attribute = NewId();
    absl::StrAppend(&objects_, " NodeAttribute: ", attribute,
                    ", \"NodeAttribute::\", \"LimbNode\" {\n  TypeFlags: \"Skeleton\"\n }\n");
    Connect(attribute, id);
  }
  Connect(id, parent);
  return id;
}

FbxWriter::Id FbxWriter::AddMesh(Id model, const std::vector<double>& positions,
                                 const std::vector<int>& faces) {
  const Id id = NewId();
  absl::StrAppend(&objects_, " Geometry: ", id, ", \"Geometry::\", \"Mesh\" {\n",
                  Array("Vertices", positions), Array("PolygonVertexIndex", faces), " }\n");
  Connect(id, model);
  return id;
}

void FbxWriter::AddSkin(Id mesh, const std::vector<Cluster>& clusters, const std::string& method) {
  const Id skin = NewId();
  absl::StrAppend(&objects_, " Deformer: ", skin, ", \"Deformer::\", \"Skin\" {\n",
                  method.empty() ? "" : absl::StrCat("  SkinningType: \"", method, "\"\n"), " }\n");
  Connect(skin, mesh);
  for (const Cluster& cluster : clusters) {
    const Id id = NewId();
    absl::StrAppend(&objects_, " Deformer: ", id, ", \"SubDeformer::\", \"Cluster\" {\n");
    if (!cluster.vertices.empty()) {
      absl::StrAppend(&objects_, Array("Indexes", cluster.vertices),
                      Array("Weights", cluster.weights));
    }
    absl::StrAppend(&objects_, Array("Transform", cluster.transform),
                    Array("TransformLink", cluster.link), " }\n");
    Connect(id, skin);
    Connect(cluster.joint, id);
  }
}

FbxWriter::Id FbxWriter::AddBlendShape(Id mesh, const std::string& name, double percent,
                                       const std::vector<Target>& targets) {
  const Id deformer = NewId(), channel = NewId();
  std::vector<double> full;
  for (const Target& target : targets) full.push_back(target.percent);
  absl::StrAppend(&objects_, " Deformer: ", deformer, ", \"Deformer::\", \"BlendShape\" {\n }\n",
                  " Deformer: ", channel, ", \"SubDeformer::", name,
                  "\", \"BlendShapeChannel\" {\n",
                  Properties(Property("DeformPercent", "Number", {percent})),
                  Array("FullWeights", full), " }\n");
  Connect(deformer, mesh);
  Connect(channel, deformer);
  for (const Target& target : targets) {
    const Id id = NewId();
    absl::StrAppend(&objects_, " Geometry: ", id, ", \"Geometry::", name, "\", \"Shape\" {\n",
                    Array("Indexes", target.vertices), Array("Vertices", target.offsets), " }\n");
    Connect(id, channel);
  }
  return channel;
}

FbxWriter::Id FbxWriter::AddStack(const std::string& name, double begin, double end) {
  const Id id = NewId();
  absl::StrAppend(
      &objects_, " AnimationStack: ", id, ", \"AnimStack::", name, "\", \"\" {\n",
      Properties(absl::StrCat("   P: \"LocalStart\", \"KTime\", \"Time\", \"\",", Ticks(begin),
                              "\n   P: \"LocalStop\", \"KTime\", "
                              "\"Time\", \"\",",
                              Ticks(end), "\n")),
      " }\n");
  return id;
}

FbxWriter::Id FbxWriter::AddLayer(Id stack, const std::string& name,
                                  const std::string& properties) {
  const Id id = NewId();
  absl::StrAppend(&objects_, " AnimationLayer: ", id, ", \"AnimLayer::", name, "\", \"\" {\n",
                  Properties(properties), " }\n");
  Connect(id, stack);
  return id;
}

void FbxWriter::Animate(Id layer, Id object, const std::string& property,
                        const std::vector<std::pair<std::string, Keys>>& components) {
  const Id node = NewId();
  std::string defaults;
  for (const auto& [component, keys] : components) {
    defaults += Property("d|" + component, "Number", {keys.empty() ? 0 : keys[0].value});
  }
  absl::StrAppend(&objects_, " AnimationCurveNode: ", node, ", \"AnimCurveNode::", property,
                  "\", \"\" {\n", Properties(defaults), " }\n");
  Connect(node, layer);
  Connect(node, object, property);
  for (const auto& [component, keys] : components) {
    if (keys.empty()) continue;
    std::vector<std::int64_t> times;
    std::vector<double> values;
    std::vector<int> flags, counts;
    std::vector<std::int32_t> data;  // the bits of float32, as text files have them
    for (const Key& key : keys) {
      times.push_back(Ticks(key.seconds));
      values.push_back(key.value);
      flags.push_back(FlagsOf(key.curve));
      counts.push_back(1);
      data.insert(data.end(), {Bits(key.right_slope), Bits(key.next_slope), 0, 0});
    }
    const Id curve = NewId();
    absl::StrAppend(&objects_, " AnimationCurve: ", curve, ", \"AnimCurve::\", \"\" {\n",
                    "  KeyVer: 4008\n  KeyTime: *", times.size(),
                    " {\n   a: ", absl::StrJoin(times, ","), "\n  }\n",
                    Array("KeyValueFloat", values), Array("KeyAttrFlags", flags),
                    Array("KeyAttrDataFloat", data), Array("KeyAttrRefCount", counts), " }\n");
    Connect(curve, node, "d|" + component);
  }
}

std::string FbxWriter::Text() const {
  return absl::StrCat("; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n FBXVersion: 7400\n}\n",
                      "GlobalSettings:  {\n Version: 1000\n", Properties(settings_), "}\n",
                      "Objects:  {\n", objects_, "}\nConnections:  {\n", connections_, "}\n");
}

}  // namespace sinew::testing
