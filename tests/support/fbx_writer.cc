#include "tests/support/fbx_writer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

namespace sinew::testing {
namespace {

constexpr double kTicks = 46186158000;
// Between name and class: binary files have the name first.
constexpr char kSeparator[] = "::";

std::int64_t Ticks(double seconds) {
  return std::llround(seconds * kTicks);
}

FbxRecord PropertyList(const FbxWriter::Properties& properties) {
  return {.name = "Properties70", .children = properties};
}

std::int32_t FlagsOf(FbxWriter::Curve curve) {
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

template <class T>
constexpr bool kIsArray = false;
template <class T>
constexpr bool kIsArray<std::vector<T>> = true;

std::string NumberText(double number) {
  return absl::StrFormat("%.17g", number);
}

void AppendText(const FbxRecord& record, const std::string& indent, std::string& out) {
  absl::StrAppend(&out, indent, record.name, ": ");
  bool has_body = !record.children.empty() || record.values.empty();
  const auto append = [&](const auto& value) -> std::string {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::string>) {
      return absl::StrCat("\"", value, "\"");
    } else if constexpr (std::is_same_v<T, double>) {
      return NumberText(value);
    } else if constexpr (kIsArray<T>) {
      const auto number = [](std::string* text, auto x) {
        // Text files have the bits of float32, since some of them are packed integers.
        if constexpr (std::is_same_v<decltype(x), float>) {
          absl::StrAppend(text, std::bit_cast<std::int32_t>(x));
        } else {
          absl::StrAppend(text, NumberText(static_cast<double>(x)));
        }
      };
      return absl::StrCat("*", value.size(), " {\n", indent,
                          " a: ", absl::StrJoin(value, ",", number), "\n", indent, "}");
    } else {
      return absl::StrCat(value);
    }
  };
  std::vector<std::string> values;
  for (const FbxRecord::Value& value : record.values) values.push_back(std::visit(append, value));
  absl::StrAppend(&out, absl::StrJoin(values, ", "));
  if (has_body) {
    absl::StrAppend(&out, " {\n");
    for (const FbxRecord& child : record.children) AppendText(child, indent + " ", out);
    absl::StrAppend(&out, indent, "}");
  }
  absl::StrAppend(&out, "\n");
}

std::string Bytes(std::uint64_t value, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

template <class T>
std::string RawBytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string BinaryValue(const FbxRecord::Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          const std::size_t at = v.find(kSeparator);
          const std::string text =
              at == std::string::npos ? v
                                      : v.substr(at + 2) + std::string("\0\1", 2) + v.substr(0, at);
          return "S" + Bytes(text.size(), 4) + text;
        } else if constexpr (kIsArray<T>) {
          using Element = typename T::value_type;
          const char type = std::is_same_v<Element, std::int32_t>   ? 'i'
                            : std::is_same_v<Element, std::int64_t> ? 'l'
                            : std::is_same_v<Element, float>        ? 'f'
                                                                    : 'd';
          std::string out =
              type + Bytes(v.size(), 4) + Bytes(0, 4) + Bytes(v.size() * sizeof(Element), 4);
          for (const Element& element : v) out += RawBytes(element);
          return out;
        } else {
          const char type = std::is_same_v<T, std::int32_t>   ? 'I'
                            : std::is_same_v<T, std::int64_t> ? 'L'
                                                              : 'D';
          return type + RawBytes(v);
        }
      },
      value);
}

// Sizes have 4 bytes before version 7.5, 8 from then on.
void AppendBinary(const FbxRecord& record, std::size_t width, std::string& out) {
  const std::size_t start = out.size();
  std::string values;
  for (const FbxRecord::Value& value : record.values) values += BinaryValue(value);
  out += Bytes(0, width) + Bytes(record.values.size(), width) + Bytes(values.size(), width) +
         Bytes(record.name.size(), 1) + record.name + values;
  for (const FbxRecord& child : record.children) AppendBinary(child, width, out);
  if (!record.children.empty()) out += std::string(3 * width + 1, '\0');
  out.replace(start, width, Bytes(out.size(), width));
}

}  // namespace

FbxRecord FbxWriter::Property(const std::string& name, const std::string& type,
                              const std::vector<double>& values) {
  FbxRecord out{"P", {name, type, std::string(), std::string("A")}};
  for (const double value : values) {
    const bool whole = type == "int" || type == "enum" || type == "bool";
    out.values.push_back(whole ? FbxRecord::Value(static_cast<std::int32_t>(value))
                               : FbxRecord::Value(value));
  }
  return out;
}

FbxWriter::FbxWriter(int up_axis, double centimetres_per_unit) {
  const bool y_up = up_axis == 1;
  const std::vector<std::pair<std::string, int>> axes = {{"UpAxis", up_axis},
                                                         {"UpAxisSign", 1},
                                                         {"FrontAxis", y_up ? 2 : 1},
                                                         {"FrontAxisSign", y_up ? 1 : -1},
                                                         {"CoordAxis", 0},
                                                         {"CoordAxisSign", 1}};
  Properties properties;
  for (const auto& [name, value] : axes)
    properties.push_back(Property(name, "int", {double(value)}));
  properties.push_back(Property("UnitScaleFactor", "double", {centimetres_per_unit}));
  settings_.children = {{"Version", {1000}}, PropertyList(properties)};
}

void FbxWriter::Connect(Id child, Id parent, const std::string& property) {
  FbxRecord out{"C", {std::string(property.empty() ? "OO" : "OP"), child, parent}};
  if (!property.empty()) out.values.push_back(property);
  connections_.children.push_back(out);
}

FbxRecord& FbxWriter::AddObject(const std::string& record, Id id, const std::string& name,
                                const std::string& name_class, const std::string& kind) {
  objects_.children.push_back({record, {id, name_class + kSeparator + name, kind}});
  return objects_.children.back();
}

FbxWriter::Id FbxWriter::AddModel(const std::string& name, const std::string& kind, Id parent,
                                  const Properties& properties) {
  const Id id = NewId();
  AddObject("Model", id, name, "Model", kind).children = {PropertyList(properties)};
  if (kind == "LimbNode") {
    const Id attribute = NewId();
    AddObject("NodeAttribute", attribute, "", "NodeAttribute", "LimbNode").children = {
        {"TypeFlags", {std::string("Skeleton")}}};
    Connect(attribute, id);
  }
  Connect(id, parent);
  return id;
}

FbxWriter::Id FbxWriter::AddMesh(Id model, const std::vector<double>& positions,
                                 const std::vector<std::int32_t>& faces) {
  const Id id = NewId();
  AddObject("Geometry", id, "", "Geometry", "Mesh").children = {{"Vertices", {positions}},
                                                                {"PolygonVertexIndex", {faces}}};
  Connect(id, model);
  return id;
}

void FbxWriter::AddHoles(Id mesh, const std::vector<std::int32_t>& holes) {
  const auto record = std::ranges::find_if(objects_.children, [&](const FbxRecord& object) {
    return object.values.front() == FbxRecord::Value(mesh);
  });
  record->children.push_back({"LayerElementHole",
                              {0},
                              {{"Version", {101}},
                               {"MappingInformationType", {std::string("ByPolygon")}},
                               {"ReferenceInformationType", {std::string("Direct")}},
                               {"Hole", {holes}}}});
}

void FbxWriter::AddSkin(Id mesh, const std::vector<Cluster>& clusters, const std::string& method) {
  const Id skin = NewId();
  FbxRecord& record = AddObject("Deformer", skin, "", "Deformer", "Skin");
  record.children = {{"Version", {101}}};
  if (!method.empty()) record.children.push_back({"SkinningType", {method}});
  Connect(skin, mesh);
  for (const Cluster& cluster : clusters) {
    const Id id = NewId();
    FbxRecord& made = AddObject("Deformer", id, "", "SubDeformer", "Cluster");
    if (!cluster.vertices.empty()) {
      made.children = {{"Indexes", {cluster.vertices}}, {"Weights", {cluster.weights}}};
    }
    made.children.push_back({"Transform", {cluster.transform}});
    made.children.push_back({"TransformLink", {cluster.link}});
    Connect(id, skin);
    Connect(cluster.joint, id);
  }
}

FbxWriter::Id FbxWriter::AddBlendShape(Id mesh, const std::string& name, double percent,
                                       const std::vector<Target>& targets) {
  const Id deformer = NewId(), channel = NewId();
  std::vector<double> full;
  for (const Target& target : targets) full.push_back(target.percent);
  AddObject("Deformer", deformer, "", "Deformer", "BlendShape").children = {{"Version", {100}}};
  AddObject("Deformer", channel, name, "SubDeformer", "BlendShapeChannel").children = {
      {"DeformPercent", {percent}}, {"FullWeights", {full}}};
  Connect(deformer, mesh);
  Connect(channel, deformer);
  for (const Target& target : targets) {
    const Id id = NewId();
    AddObject("Geometry", id, name, "Geometry", "Shape").children = {
        {"Indexes", {target.vertices}}, {"Vertices", {target.offsets}}};
    Connect(id, channel);
  }
  return channel;
}

void FbxWriter::AddConstraint(Id object, Id source) {
  const Id id = NewId();
  AddObject("Constraint", id, "Parent", "Constraint", "Parent-Child").children = {
      PropertyList({Property("Active", "bool", {1})})};
  Connect(id, 0);
  Connect(object, id, "Constrained object (Child)");
  Connect(source, id, "Source (Parent)");
}

FbxWriter::Id FbxWriter::AddStack(const std::string& name, double begin, double end) {
  const Id id = NewId();
  const auto time = [](const char* which, double seconds) {
    return FbxRecord{"P",
                     {std::string(which), std::string("KTime"), std::string("Time"), std::string(),
                      Ticks(seconds)}};
  };
  AddObject("AnimationStack", id, name, "AnimStack", "").children = {
      PropertyList({time("LocalStart", begin), time("LocalStop", end)})};
  return id;
}

FbxWriter::Id FbxWriter::AddLayer(Id stack, const std::string& name, const Properties& properties) {
  const Id id = NewId();
  AddObject("AnimationLayer", id, name, "AnimLayer", "").children = {PropertyList(properties)};
  Connect(id, stack);
  return id;
}

void FbxWriter::Animate(Id layer, Id object, const std::string& property,
                        const std::vector<std::pair<std::string, Keys>>& components) {
  const Id node = NewId();
  Properties defaults;
  for (const auto& [component, keys] : components) {
    defaults.push_back(Property("d|" + component, "Number", {keys.empty() ? 0 : keys[0].value}));
  }
  AddObject("AnimationCurveNode", node, property, "AnimCurveNode", "").children = {
      PropertyList(defaults)};
  Connect(node, layer);
  Connect(node, object, property);
  for (const auto& [component, keys] : components) {
    if (keys.empty()) continue;
    std::vector<std::int64_t> times;
    std::vector<double> values;
    std::vector<std::int32_t> flags, counts;
    std::vector<float> data;
    for (const Key& key : keys) {
      times.push_back(Ticks(key.seconds));
      values.push_back(key.value);
      flags.push_back(FlagsOf(key.curve));
      counts.push_back(1);
      data.insert(data.end(), {static_cast<float>(key.right_slope),
                               static_cast<float>(key.next_slope), 0.0f, 0.0f});
    }
    const Id curve = NewId();
    AddObject("AnimationCurve", curve, "", "AnimCurve", "").children = {
        {"KeyVer", {4008}},        {"KeyTime", {times}},         {"KeyValueFloat", {values}},
        {"KeyAttrFlags", {flags}}, {"KeyAttrDataFloat", {data}}, {"KeyAttrRefCount", {counts}}};
    Connect(curve, node, "d|" + component);
  }
}

std::vector<FbxRecord> FbxWriter::Records(int version) const {
  return {
      {"FBXHeaderExtension", {}, {{"FBXVersion", {version}}}}, settings_, objects_, connections_};
}

std::string FbxWriter::Text() const {
  std::string out = "; FBX 7.4.0 project file\n";
  for (const FbxRecord& record : Records(7400)) AppendText(record, "", out);
  return out;
}

std::string FbxWriter::Binary(int version) const {
  const std::size_t width = version < 7500 ? 4 : 8;
  std::string out = std::string("Kaydara FBX Binary  \0\x1a\0", 23) +
                    Bytes(static_cast<std::uint64_t>(version), 4);
  for (const FbxRecord& record : Records(version)) AppendBinary(record, width, out);
  return out + std::string(3 * width + 1, '\0');
}

}  // namespace sinew::testing
