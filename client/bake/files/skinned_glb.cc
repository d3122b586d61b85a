#include "client/bake/files/skinned_glb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "client/bake/formats/glb.h"
#include "client/render/surface.h"
#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/finite.h"
#include "core/base/status.h"
#include "core/base/trs.h"
#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/mesh/weld.h"
#include "core/parallel/task.h"
#include "core/surface/part_triangles.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kUnsignedByte = 5121, kUnsignedShort = 5123, kUnsignedInt = 5125, kFloat = 5126;
constexpr int kArrayBuffer = 34962, kElementBuffer = 34963;
constexpr std::size_t kMostInfluences = 8;
constexpr double kShear = 1e-4;    // of the joint's scale: rounding, in files that store floats
constexpr double kNoScale = 1e-6;  // from 1: rounding of rigid poses, not worth a key
// Rounding the places of a joint and its parent to float changes their distance by less, of them.
constexpr double kNoMove = 4 * std::numeric_limits<float>::epsilon();

using SparseVectors = std::map<std::uint32_t, Vec3f>;  // of some vertices

// A node's transform as glTF stores it.
struct NodeTrs {
  std::array<float, 3> translation{};
  std::array<float, 4> rotation{0, 0, 0, 1};
  std::array<float, 3> scale{1, 1, 1};
};

// kInvalidArgument: not the product of translation, rotation and scale.
absl::StatusOr<NodeTrs> ToTrs(const AffineD& matrix) {
  const std::array<double, 12>& m = matrix.m;
  std::array<Vec3d, 3> columns;
  std::array<double, 3> scale{};
  for (std::size_t c = 0; c < 3; ++c) {
    columns[c] = {m[c], m[4 + c], m[8 + c]};
    scale[c] = Length(columns[c]);
    if (std::abs(scale[c] - 1) <= kNoScale) scale[c] = 1;
    columns[c] = Unit(columns[c]);
  }
  double shear = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t d = (c + 1) % 3;
    if (scale[c] > 0 && scale[d] > 0)
      shear = std::max(shear, std::abs(Dot(columns[c], columns[d])));
  }
  if (!(shear <= kShear)) return InvalidArgument("shears by ", shear);
  // A flat axis follows from the others; a mirror is a negative scale.
  const Vec3d x = Length(columns[0]) > 0 ? columns[0] : Unit(Cross(columns[1], columns[2]));
  const Vec3d guess = Length(columns[1]) > 0 ? columns[1] : Unit(Cross(columns[2], x));
  const Vec3d y = Unit(guess - Dot(guess, x) * x);
  const Vec3d z = Cross(x, y);
  if (Dot(z, columns[2]) < 0) scale[2] = -scale[2];
  NodeTrs trs;
  const bool turns = Length(x) > 0 && Length(y) > 0;
  const std::array<double, 4> q =
      turns ? QuaternionOf({{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}})
            : std::array<double, 4>{0, 0, 0, 1};
  for (std::size_t k = 0; k < 3; ++k) {
    trs.translation[k] = static_cast<float>(m[4 * k + 3]);
    trs.scale[k] = static_cast<float>(scale[k]);
  }
  for (std::size_t k = 0; k < 4; ++k) trs.rotation[k] = static_cast<float>(q[k]);
  return trs;
}

// The local transforms of a pose, [J].
absl::StatusOr<std::vector<NodeTrs>> LocalTrs(const client::RigData& rig,
                                              std::span<const float> joints,
                                              const std::string& pose) {
  std::vector<NodeTrs> result;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    AffineD local = client::MatrixAt(joints, j);
    if (rig.joints[j].parent >= 0) {
      const AffineD above =
          client::MatrixAt(joints, static_cast<std::size_t>(rig.joints[j].parent));
      if (Determinant(Linear(above)) == 0) {
        return InvalidArgument(pose, ": joint \"", rig.joints[j].name,
                               "\" is below one that is scaled to 0, which glTF cannot place");
      }
      local = Compose(Inverse(above), local);
    }
    const absl::StatusOr<NodeTrs> trs = ToTrs(local);
    if (!trs.ok()) {
      return InvalidArgument(pose, ": joint \"", rig.joints[j].name, "\" ",
                             StdView(trs.status().message()), ", need at most ", kShear,
                             ": glTF has no shear (scale the parent evenly)");
    }
    result.push_back(*trs);
  }
  return result;
}

// The vertices that a mesh gets in the file.
struct MeshVertices {
  std::vector<std::uint32_t> source;   // [N] of the rig's mesh; the first ones are those themselves
  std::vector<std::uint32_t> corners;  // [corners] the vertex of each, in the file
  std::vector<float> uvs;              // [N * 2] v downwards, or empty
};

MeshVertices SplitVertices(const client::Mesh& mesh, const client::MeshExtras* extras) {
  MeshVertices result;
  for (std::uint32_t v = 0; v < mesh.vertices(); ++v) result.source.push_back(v);
  result.corners = mesh.face_vertices;
  if (extras == nullptr || extras->corner_uvs.size() != 2 * mesh.face_vertices.size()) {
    return result;
  }
  result.uvs.assign(2 * mesh.vertices(), 0);
  std::vector<bool> has_uv(mesh.vertices());
  std::map<std::tuple<std::uint32_t, float, float>, std::uint32_t> copies;
  for (std::size_t c = 0; c < mesh.face_vertices.size(); ++c) {
    const std::uint32_t v = mesh.face_vertices[c];
    const float u = extras->corner_uvs[2 * c], w = 1 - extras->corner_uvs[2 * c + 1];
    if (!has_uv[v]) {
      has_uv[v] = true;
      result.uvs[2 * v] = u;
      result.uvs[2 * v + 1] = w;
    }
    if (result.uvs[2 * v] == u && result.uvs[2 * v + 1] == w) continue;
    const auto next = static_cast<std::uint32_t>(result.source.size());
    const auto [at, is_new] = copies.try_emplace({v, u, w}, next);
    result.corners[c] = at->second;
    if (!is_new) continue;
    result.source.push_back(v);
    result.uvs.insert(result.uvs.end(), {u, w});
  }
  return result;
}

class Writer {
 public:
  explicit Writer(const SkinnedScene& scene) : scene_(scene), rig_(*scene.rig) {
    for (const client::Control& control : rig_.controls) {
      control_.emplace(control.name, control_.size());
    }
  }

  absl::Status CheckMotion() {
    SINEW_RETURN_IF_ERROR(AddJoints());
    for (const client::ClipData& clip : scene_.clips) SINEW_RETURN_IF_ERROR(AddClip(clip));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Encode() {
    document_ = {{"asset", {{"version", "2.0"}, {"generator", "sinew"}}}, {"scene", 0}};
    SINEW_RETURN_IF_ERROR(AddJoints());
    SINEW_RETURN_IF_ERROR(AddMeshes());
    for (const client::ClipData& clip : scene_.clips) SINEW_RETURN_IF_ERROR(AddClip(clip));
    for (const auto& [list, items] : lists_) {
      if (!items.empty()) document_[list] = items;
    }
    binary_.resize((binary_.size() + 3) / 4 * 4);
    document_["buffers"] = Json::array({{{"byteLength", binary_.size()}}});
    SINEW_ASSIGN_OR_RETURN(
        std::string file,
        GlbHead(document_.dump(-1, ' ', false, Json::error_handler_t::replace), binary_.size()));
    return file += binary_;
  }

 private:
  int Add(const char* list, Json item) {
    Json& items = lists_[list];
    items.push_back(std::move(item));
    return static_cast<int>(items.size()) - 1;
  }

  template <class T>
  int AddView(std::span<const T> values, int target = 0) {
    binary_.resize((binary_.size() + 3) / 4 * 4);
    Json view = {
        {"buffer", 0}, {"byteOffset", binary_.size()}, {"byteLength", values.size_bytes()}};
    if (target != 0) view["target"] = target;
    binary_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    return Add("bufferViews", std::move(view));
  }

  template <class T>
  int AddAccessor(const std::vector<T>& values, int component, std::size_t width, const char* type,
                  int target = 0) {
    return Add("accessors", {{"bufferView", AddView(std::span<const T>(values), target)},
                             {"componentType", component},
                             {"count", values.size() / width},
                             {"type", type}});
  }

  void AddBounds(std::span<const float> values, std::size_t width, Json& accessor) {
    std::vector<float> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(width));
    std::vector<float> high = low;
    for (std::size_t k = width; k < values.size(); ++k) {
      low[k % width] = std::min(low[k % width], values[k]);
      high[k % width] = std::max(high[k % width], values[k]);
    }
    accessor["min"] = low;
    accessor["max"] = high;
  }
  int AddBounded(const std::vector<float>& values, std::size_t width, const char* type,
                 int target = 0) {
    const int index = AddAccessor(values, kFloat, width, type, target);
    AddBounds(values, width, lists_["accessors"].back());
    return index;
  }

  // Node 0 turns and scales to glTF's metres with Y up; joint j is node 1 + j.
  absl::Status AddJoints() {
    SINEW_ASSIGN_OR_RETURN(rest_, LocalTrs(rig_, client::RestJoints(rig_), "rest pose"));
    Json root = {{"name", rig_.label.empty() ? "character" : rig_.label}};
    if (rig_.up_axis == client::UpAxis::kZ) {
      root["rotation"] = {-std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
    }
    if (rig_.meters_per_unit != 1) root["scale"] = std::vector<double>(3, rig_.meters_per_unit);
    std::vector<std::vector<std::size_t>> children(rig_.joints.size() + 1);
    for (std::size_t j = 0; j < rig_.joints.size(); ++j) {
      children[static_cast<std::size_t>(rig_.joints[j].parent + 1)].push_back(j + 1);
    }
    if (!children[0].empty()) root["children"] = children[0];
    Add("nodes", std::move(root));
    for (std::size_t j = 0; j < rig_.joints.size(); ++j) {
      Json node = {{"name", rig_.joints[j].name},
                   {"translation", rest_[j].translation},
                   {"rotation", rest_[j].rotation}};
      if (rest_[j].scale != NodeTrs{}.scale) node["scale"] = rest_[j].scale;
      if (!children[j + 1].empty()) node["children"] = children[j + 1];
      Add("nodes", std::move(node));
    }
    document_["scenes"] = Json::array({{{"nodes", {0}}}});
    return absl::OkStatus();
  }

  std::size_t AddNodeBelow(std::uint32_t joint) {
    const int node = Add("nodes", {{"name", rig_.joints[joint].name + " again"}});
    lists_["nodes"][joint + 1]["children"].push_back(node);
    return static_cast<std::size_t>(node);
  }

  // Meshes that are bound alike share a skin.
  int AddSkin(const client::Skin& skin) {
    std::vector<float> columns;
    const AffineD geometry = client::MatrixAt(skin.geometry_bind, 0);
    for (std::size_t s = 0; s < skin.joints.size(); ++s) {
      const Affine bind = ToFloat(Compose(client::MatrixAt(skin.inverse_bind, s), geometry));
      for (std::size_t c = 0; c < 4; ++c) {
        columns.insert(columns.end(),
                       {bind.m[c], bind.m[4 + c], bind.m[8 + c], c == 3 ? 1.0f : 0.0f});
      }
    }
    const auto [known, is_new] = skins_.try_emplace({skin.joints, columns}, 0);
    if (!is_new) return known->second;
    Json joints = Json::array();
    std::set<std::uint32_t> seen;
    for (const std::uint32_t joint : skin.joints) {
      // A skin must not repeat a node: a joint with a second bind matrix gets a node at its place.
      const bool repeats = !seen.insert(joint).second;
      joints.push_back(repeats ? AddNodeBelow(joint) : joint + 1);
    }
    Json item = {{"joints", std::move(joints)},
                 {"inverseBindMatrices", AddAccessor(columns, kFloat, 16, "MAT4")}};
    if (!scene_.skin_extras.is_null()) item["extras"] = scene_.skin_extras;
    return known->second = Add("skins", std::move(item));
  }

  // Slots of the skin with weights, [vertices], strongest first.
  using InfluenceRows = std::vector<std::vector<std::pair<std::uint32_t, float>>>;

  // The influences of a mesh, in sets of four.
  absl::Status AddInfluences(const client::Mesh& mesh, const std::vector<std::uint32_t>& source,
                             Json& attributes) {
    const client::Skin& skin = mesh.skin;
    std::vector<float> exact = skin.influence_weights;
    InfluenceRows rows(mesh.vertices());
    std::size_t at = 0, most = 0;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      std::vector<std::pair<std::uint32_t, float>>& row = rows[v];
      if (const std::uint32_t count = skin.influence_counts[v]; count > 0) {
        MakeSumExact(std::span(exact).subspan(at, count));
      }
      for (std::uint32_t k = 0; k < skin.influence_counts[v]; ++k, ++at) {
        if (exact[at] == 0) continue;
        row.emplace_back(skin.influence_joints[at], exact[at]);
      }
      std::ranges::stable_sort(row,
                               [](const auto& a, const auto& b) { return a.second > b.second; });
      if (row.empty() || row.size() > kMostInfluences) {
        return InvalidArgument("mesh \"", mesh.name, "\": vertex ", v, " has ", row.size(),
                               " influences, need 1 to ", kMostInfluences);
      }
      most = std::max(most, row.size());
    }
    for (std::size_t set = 0; set * 4 < most; ++set) {
      std::vector<std::uint16_t> joints(4 * source.size());
      std::vector<float> weights(4 * source.size());
      for (std::size_t i = 0; i < source.size(); ++i) {
        const auto& row = rows[source[i]];
        for (std::size_t k = 4 * set; k < std::min(row.size(), 4 * set + 4); ++k) {
          joints[4 * i + k % 4] = static_cast<std::uint16_t>(row[k].first);
          weights[4 * i + k % 4] = row[k].second;
        }
      }
      const std::string number = std::to_string(set);
      if (skin.joints.size() <= 256) {
        attributes["JOINTS_" + number] =
            AddAccessor(std::vector<std::uint8_t>(joints.begin(), joints.end()), kUnsignedByte, 4,
                        "VEC4", kArrayBuffer);
      } else {
        attributes["JOINTS_" + number] =
            AddAccessor(joints, kUnsignedShort, 4, "VEC4", kArrayBuffer);
      }
      attributes["WEIGHTS_" + number] = AddAccessor(weights, kFloat, 4, "VEC4", kArrayBuffer);
    }
    return skin.coefficients.empty() ? absl::OkStatus()
                                     : AddCoefficients(mesh, rows, most, source, attributes);
  }

  // The offset and weight of each influence, in the order of the influences.
  absl::Status AddCoefficients(const client::Mesh& mesh, const InfluenceRows& rows,
                               std::size_t most, const std::vector<std::uint32_t>& source,
                               Json& attributes) {
    const client::Coefficients& given = mesh.skin.coefficients;
    if (given.columns != 4) {
      return InvalidArgument("mesh \"", mesh.name, "\": its coefficients have ", given.columns,
                             " values, need 4, those of animation space");
    }
    std::vector<float> values(rows.size() * most * 4);  // [vertices][most][4]
    std::size_t at = 0;
    for (std::size_t v = 0; v < rows.size(); ++v) {
      float* const own = &values[v * most * 4];
      for (std::size_t k = 0; k < rows[v].size() && given.counts[v] == 0; ++k) {
        own[4 * k + 3] = rows[v][k].second;
      }
      for (std::uint32_t i = 0; i < given.counts[v]; ++i, ++at) {
        const auto place =
            std::ranges::find(rows[v], given.joints[at], [](const auto& e) { return e.first; });
        if (place == rows[v].end()) {
          return InvalidArgument("mesh \"", mesh.name, "\": vertex ", v,
                                 " has coefficients of a joint without weight");
        }
        std::copy_n(&given.values[4 * at], 4, own + 4 * (place - rows[v].begin()));
      }
    }
    for (std::size_t k = 0; k < most; ++k) {
      std::vector<float> column;
      for (const std::uint32_t v : source) {
        const float* const own = &values[(v * most + k) * 4];
        column.insert(column.end(), own, own + 4);
      }
      attributes["_SINEW_AS_" + std::to_string(k)] =
          AddAccessor(column, kFloat, 4, "VEC4", kArrayBuffer);
    }
    return absl::OkStatus();
  }

  // Vectors of some vertices; those of all others are zero.
  int AddSparse(const SparseVectors& vectors, const MeshVertices& vertices) {
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    for (std::uint32_t i = 0; i < vertices.source.size(); ++i) {
      const auto row = vectors.find(vertices.source[i]);
      if (row == vectors.end()) continue;
      indices.push_back(i);
      values.insert(values.end(), {row->second.x, row->second.y, row->second.z});
    }
    Json accessor = {
        {"componentType", kFloat}, {"count", vertices.source.size()}, {"type", "VEC3"}};
    std::vector<float> bounded = values;
    if (indices.size() < vertices.source.size()) bounded.insert(bounded.end(), {0, 0, 0});
    AddBounds(bounded, 3, accessor);
    const bool is_short = vertices.source.size() <= std::numeric_limits<std::uint16_t>::max();
    // Normals of a target are mostly those of the vertices that it moves.
    if (indices_view_ < 0 || indices != indices_ || is_short != short_indices_) {
      const std::vector<std::uint16_t> shorts(indices.begin(), indices.end());
      indices_view_ = is_short ? AddView(std::span<const std::uint16_t>(shorts))
                               : AddView(std::span<const std::uint32_t>(indices));
      indices_ = indices;
      short_indices_ = is_short;
    }
    accessor["sparse"] = {{"count", indices.size()},
                          {"indices",
                           {{"bufferView", indices_view_},
                            {"componentType", is_short ? kUnsignedShort : kUnsignedInt}}},
                          {"values", {{"bufferView", AddView(std::span<const float>(values))}}}};
    return Add("accessors", std::move(accessor));
  }

  Json MorphTarget(const client::ShapeTarget& target, const MeshVertices& vertices) {
    const auto collect = [&](const std::vector<float>& values) {
      SparseVectors vectors;
      for (std::size_t k = 0; k < values.size() / 3; ++k) {
        const float* const from = &values[3 * k];
        vectors[target.vertices.empty() ? static_cast<std::uint32_t>(k) : target.vertices[k]] = {
            from[0] / target.weight, from[1] / target.weight, from[2] / target.weight};
      }
      return vectors;
    };
    Json json = {{"POSITION", AddSparse(collect(target.offsets), vertices)}};
    if (!target.normal_offsets.empty()) {
      json["NORMAL"] = AddSparse(collect(target.normal_offsets), vertices);
    }
    return json;
  }

  // The colours of a mesh whose first vertex is `first`, unless all are white.
  void AddColours(std::size_t first, const std::vector<std::uint32_t>& source, Json& attributes) {
    if (scene_.paint == nullptr || scene_.paint->colours.empty()) return;
    std::vector<float> colours;
    for (const std::uint32_t v : source) {
      const std::uint8_t* const colour = &scene_.paint->colours[4 * (first + v)];
      for (std::size_t k = 0; k < 3; ++k)
        colours.push_back(client::ToLinear(static_cast<float>(colour[k]) / 255));
    }
    if (std::ranges::all_of(colours, [](float value) { return value == 1; })) return;
    attributes["COLOR_0"] = AddAccessor(colours, kFloat, 3, "VEC3", kArrayBuffer);
  }

  // The material of an image of the paint; -1 is the one without an image.
  int Material(int image) {
    const auto [known, is_new] = materials_.try_emplace(image, 0);
    if (!is_new) return known->second;
    Json look = {{"metallicFactor", 0}, {"roughnessFactor", 0.8}};
    if (image >= 0) {
      const client::GltfPaint::Image& from = scene_.paint->images[static_cast<std::size_t>(image)];
      const int view = AddView(std::span<const char>(from.bytes));
      const int index = Add("images", {{"bufferView", view}, {"mimeType", from.type}});
      look["baseColorTexture"] = {{"index", Add("textures", {{"source", index}})}};
    }
    return known->second = Add("materials", {{"pbrMetallicRoughness", std::move(look)}});
  }

  // Triangles by the image that they show.
  std::map<int, std::vector<std::uint32_t>> Triangles(const client::Mesh& mesh, std::size_t first,
                                                      const MeshVertices& vertices) const {
    std::map<int, std::vector<std::uint32_t>> triangles;
    const bool has_images = scene_.paint != nullptr && !scene_.paint->images.empty() &&
                            !scene_.paint->uvs.empty() && !vertices.uvs.empty();
    const std::size_t faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    std::size_t corner = 0;
    for (std::size_t f = 0; f < faces; ++f) {
      const std::size_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
      const std::uint32_t* const face = &vertices.corners[corner];
      const std::size_t shown = first + mesh.face_vertices[corner];
      const int image = has_images ? static_cast<int>(scene_.paint->uvs[3 * shown + 2]) : -1;
      std::vector<std::uint32_t>& list = triangles[image];
      for (std::size_t k = 2; k < size; ++k) {
        list.insert(list.end(), {face[0], face[k - 1], face[k]});
      }
      corner += size;
    }
    return triangles;
  }

  // A vertex with an image is where the material has that: in a set of coordinates and by a
  // transform of its choice.
  void PlaceImages(std::size_t first, MeshVertices& vertices) const {
    if (scene_.paint == nullptr || scene_.paint->uvs.empty()) return;
    for (std::size_t i = 0; i < vertices.source.size(); ++i) {
      const float* const uv = &scene_.paint->uvs[3 * (first + vertices.source[i])];
      if (uv[2] < 0) continue;
      vertices.uvs.resize(2 * vertices.source.size());
      vertices.uvs[2 * i] = uv[0];
      vertices.uvs[2 * i + 1] = uv[1];
    }
  }

  absl::Status AddMeshes() {
    std::size_t first = 0;
    for (std::size_t m = 0; m < rig_.meshes.size(); ++m) {
      const client::Mesh& mesh = rig_.meshes[m];
      MeshVertices vertices =
          SplitVertices(mesh, m < scene_.extras.size() ? &scene_.extras[m] : nullptr);
      PlaceImages(first, vertices);
      Json attributes;
      const auto add_vectors = [&](const char* name, const std::vector<float>& values) {
        std::vector<float> copied;
        for (const std::uint32_t v : vertices.source) {
          copied.insert(copied.end(), &values[3 * v], &values[3 * v] + 3);
        }
        attributes[name] = std::strcmp(name, "POSITION") == 0
                               ? AddBounded(copied, 3, "VEC3", kArrayBuffer)
                               : AddAccessor(copied, kFloat, 3, "VEC3", kArrayBuffer);
      };
      add_vectors("POSITION", mesh.positions);
      SINEW_ASSIGN_OR_RETURN(const std::vector<float> normals, UnitNormals(mesh));
      add_vectors("NORMAL", normals);
      if (!vertices.uvs.empty()) {
        attributes["TEXCOORD_0"] = AddAccessor(vertices.uvs, kFloat, 2, "VEC2", kArrayBuffer);
      }
      AddColours(first, vertices.source, attributes);
      SINEW_RETURN_IF_ERROR(AddInfluences(mesh, vertices.source, attributes));
      Json item = {{"name", mesh.name}, {"primitives", Json::array()}};
      Json targets = Json::array();
      Json names = Json::array(), defaults = Json::array();
      for (const client::Shape& shape : mesh.shapes) {
        targets.push_back(MorphTarget(shape.targets.back(), vertices));
        names.push_back(shape.control);
        defaults.push_back(rig_.controls[control_.at(shape.control)].default_value);
      }
      auto triangles = Triangles(mesh, first, vertices);
      if (triangles.empty()) triangles[-1];
      for (const auto& [image, indices] : triangles) {
        Json primitive = {{"attributes", attributes}, {"material", Material(image)}};
        if (indices.empty()) {
          primitive["mode"] = 0;  // points
        } else {
          primitive["indices"] = AddAccessor(indices, kUnsignedInt, 1, "SCALAR", kElementBuffer);
        }
        if (!targets.empty()) primitive["targets"] = targets;
        item["primitives"].push_back(std::move(primitive));
      }
      if (!targets.empty()) {
        item["weights"] = std::move(defaults);
        item["extras"] = {{"targetNames", std::move(names)}};
      }
      const int index = Add("meshes", std::move(item));
      const int skin = AddSkin(mesh.skin);
      const int node = Add("nodes", {{"name", mesh.name}, {"mesh", index}, {"skin", skin}});
      document_["scenes"][0]["nodes"].push_back(node);
      mesh_nodes_.push_back(static_cast<std::size_t>(node));
      first += mesh.vertices();
    }
    return absl::OkStatus();
  }

  void AddChannel(int times, const std::vector<float>& values, std::size_t width, const char* type,
                  std::size_t node, const char* path, Json& animation) {
    const int output = AddAccessor(values, kFloat, width, type);
    animation["channels"].push_back(
        {{"sampler", animation["samplers"].size()}, {"target", {{"node", node}, {"path", path}}}});
    animation["samplers"].push_back(
        {{"input", times}, {"output", output}, {"interpolation", "LINEAR"}});
  }

  // Whether a joint of a pose is elsewhere than its node without keys would be.
  bool Moves(std::span<const float> model, std::size_t j, const NodeTrs& local) const {
    const AffineD above =
        rig_.joints[j].parent < 0
            ? AffineD()
            : client::MatrixAt(model, static_cast<std::size_t>(rig_.joints[j].parent));
    const auto vector = [](const std::array<float, 3>& v) { return Vec3d{v[0], v[1], v[2]}; };
    const Vec3d step = vector(local.translation) - vector(rest_[j].translation);
    const double places =
        Length(Translation(above)) + Length(Translation(client::MatrixAt(model, j)));
    return Length(Multiply(Linear(above), step)) > kNoMove * places;
  }

  absl::Status AddClip(const client::ClipData& clip) {
    const std::size_t joints = rig_.joints.size();
    std::vector<std::vector<NodeTrs>> poses;
    std::vector<float> times;
    std::vector<bool> moves(joints);  // from where the joint rests below its parent
    for (std::size_t k = 0; k < clip.frames; ++k) {
      const auto model = std::span(clip.joint_transforms).subspan(k * joints * 12, joints * 12);
      SINEW_ASSIGN_OR_RETURN(
          poses.emplace_back(),
          LocalTrs(rig_, model,
                   absl::StrCat("clip \"", clip.name, "\", frame ", clip.FrameNumber(k))));
      for (std::size_t j = 0; j < joints; ++j) {
        moves[j] = moves[j] || Moves(model, j, poses.back()[j]);
      }
      times.push_back(static_cast<float>((clip.FrameNumber(k) - clip.FrameNumber(0)) / clip.fps));
    }
    if (poses.empty()) return absl::OkStatus();
    const int input = AddBounded(times, 1, "SCALAR");
    Json animation = {
        {"name", clip.name}, {"channels", Json::array()}, {"samplers", Json::array()}};
    for (std::size_t j = 0; j < joints; ++j) {
      const auto differs = [&](auto NodeTrs::*part) {
        return std::ranges::any_of(poses, [&](const std::vector<NodeTrs>& pose) {
          return pose[j].*part != rest_[j].*part;
        });
      };
      const auto add = [&](auto NodeTrs::*part, const char* type, const char* path,
                           bool is_needed) {
        if (!is_needed) return;
        std::vector<float> values;
        for (const std::vector<NodeTrs>& pose : poses) {
          const auto& value = pose[j].*part;
          values.insert(values.end(), value.begin(), value.end());
        }
        AddChannel(input, values, (rest_[j].*part).size(), type, 1 + j, path, animation);
      };
      for (std::size_t k = 1; k < poses.size(); ++k) {  // the shorter way
        double dot = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          dot += double{poses[k - 1][j].rotation[c]} * poses[k][j].rotation[c];
        }
        if (dot >= 0) continue;
        for (float& value : poses[k][j].rotation) value = -value;
      }
      add(&NodeTrs::translation, "VEC3", "translation", moves[j]);
      add(&NodeTrs::rotation, "VEC4", "rotation",
          j == 0 || differs(&NodeTrs::rotation));  // a clip needs a channel
      add(&NodeTrs::scale, "VEC3", "scale", differs(&NodeTrs::scale));
    }
    AddWeights(clip, input, animation);
    Add("animations", std::move(animation));
    return absl::OkStatus();
  }

  void AddWeights(const client::ClipData& clip, int input, Json& animation) {
    const std::size_t controls = rig_.controls.size();
    if (mesh_nodes_.empty() || clip.controls.size() != controls * clip.frames) return;
    for (std::size_t m = 0; m < rig_.meshes.size(); ++m) {
      const std::vector<client::Shape>& shapes = rig_.meshes[m].shapes;
      if (shapes.empty()) continue;
      std::vector<float> values;
      for (std::size_t k = 0; k < clip.frames; ++k) {
        for (const client::Shape& shape : shapes) {
          values.push_back(clip.controls[k * controls + control_.at(shape.control)]);
        }
      }
      AddChannel(input, values, 1, "SCALAR", mesh_nodes_[m], "weights", animation);
    }
  }

  const SkinnedScene& scene_;
  const client::RigData& rig_;
  Json document_;
  std::map<std::string, Json> lists_;
  std::string binary_;
  std::vector<std::uint32_t> indices_;  // of the last sparse vectors
  bool short_indices_ = false;
  int indices_view_ = -1;  // none
  std::vector<NodeTrs> rest_;
  std::vector<std::size_t> mesh_nodes_;         // [meshes]
  std::map<std::string, std::size_t> control_;  // indices by name
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<float>>, int> skins_;
  std::map<int, int> materials_;
};

}  // namespace

absl::StatusOr<std::string> EncodeSkinnedGlb(const SkinnedScene& scene) {
  const auto is_finite = [](const std::vector<float>& values) {
    return AllFinite(std::as_bytes(std::span(values)));
  };
  for (const client::Mesh& mesh : scene.rig->meshes) {
    bool finite = is_finite(mesh.positions) && is_finite(mesh.skin.coefficients.values);
    for (const client::Shape& shape : mesh.shapes) {
      for (const client::ShapeTarget& target : shape.targets) {
        finite = finite && is_finite(target.offsets) && is_finite(target.normal_offsets);
      }
    }
    if (!finite) return InvalidArgument("mesh \"", mesh.name, "\" has a number that is not finite");
    if (mesh.skin.influence_counts.size() != mesh.vertices()) {
      return InvalidArgument("mesh \"", mesh.name, "\" has no skin, need one");
    }
  }
  return Writer(scene).Encode();
}

absl::StatusOr<std::vector<float>> UnitNormals(const client::Mesh& mesh) {
  std::vector<Vec3d> of_vertices;
  if (mesh.normals.size() == mesh.positions.size()) {
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      of_vertices.push_back(
          {mesh.normals[3 * v], mesh.normals[3 * v + 1], mesh.normals[3 * v + 2]});
    }
  } else {
    SINEW_ASSIGN_OR_RETURN(const Mesh core, client::CoreMesh(mesh));
    const Task task;
    const WeldedPoints welded = Weld(core, task);
    std::vector<Triangle> triangles;
    ForEachTriangle(core, welded,
                    [&](const Triangle& t, std::uint32_t) { triangles.push_back(t); });
    std::vector<Vec3d> points;
    for (const std::uint32_t v : welded.first) points.push_back(ToDouble(core.positions()[v]));
    const std::vector<Vec3d> normals = AngleWeightedNormals(triangles, points);
    for (const std::uint32_t point : welded.point) of_vertices.push_back(normals[point]);
  }
  std::vector<float> normals;
  for (const Vec3d& given : of_vertices) {
    const Vec3f unit = Length(given) > 0 ? ToFloat(Unit(given)) : Vec3f{0, 1, 0};
    normals.insert(normals.end(), {unit.x, unit.y, unit.z});
  }
  return normals;
}

absl::Status CheckGlbMotion(const client::RigData& rig, std::span<const client::ClipData> clips) {
  return Writer({.rig = &rig, .clips = clips}).CheckMotion();
}

void MakeSumExact(std::span<float> weights) {
  constexpr double kStep = 0x1p-23;
  double sum = 0;
  for (float& weight : weights) {
    weight = static_cast<float>(std::nearbyint(double{weight} / kStep) * kStep);
    sum += double{weight};
  }
  float& largest = *std::ranges::max_element(weights);
  largest = static_cast<float>(double{largest} + (1 - sum));
}

}  // namespace sinew::bake
