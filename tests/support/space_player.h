// space_player.h - plays the clip of a .glb by its _SINEW_AS_k attributes alone, as a shader would:
// no reader of files and no method of the product takes part.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/trs.h"
#include "core/base/types.h"

namespace sinew::testing {

class SpacePlayer {
 public:
  explicit SpacePlayer(std::string glb) : glb_(std::move(glb)) {
    const std::uint32_t size = At<std::uint32_t>(12);
    document_ = nlohmann::json::parse(glb_.substr(20, size), nullptr, false);
    binary_ = 20 + size + 8;
  }

  const nlohmann::json& document() const { return document_; }
  std::size_t keys() const { return Accessor(Samplers()[0]["input"]).size(); }

  // [x, y, z of every vertex] at a key of the first animation. linear: by WEIGHTS_n instead.
  std::vector<float> Play(std::size_t key, bool linear = false) const {
    std::vector<AffineD> places(document_["nodes"].size());
    Place(0, {}, key, places);
    std::vector<float> out;
    for (const auto& node : document_["nodes"]) {
      if (!node.contains("mesh")) continue;
      const auto& skin = document_["skins"][node["skin"].get<std::size_t>()];
      const std::vector<double> binds = Accessor(skin["inverseBindMatrices"]);
      std::vector<AffineD> matrices;
      for (std::size_t s = 0; s < skin["joints"].size(); ++s) {
        AffineD bind;
        for (std::size_t k = 0; k < 12; ++k) bind.m[k] = binds[16 * s + k % 4 * 4 + k / 4];
        matrices.push_back(Compose(places[skin["joints"][s].get<std::size_t>()], bind));
      }
      const std::size_t mesh = node["mesh"];
      Blend(document_["meshes"][mesh]["primitives"][0]["attributes"], matrices, linear, out);
    }
    return out;
  }

  // The numbers of an accessor.
  std::vector<double> Accessor(std::size_t index) const {
    const auto& accessor = document_["accessors"][index];
    const auto& view = document_["bufferViews"][accessor["bufferView"].get<std::size_t>()];
    const std::size_t begin = binary_ + view["byteOffset"].get<std::size_t>();
    const std::size_t bytes = view["byteLength"];
    const int type = accessor["componentType"];
    const std::size_t size = type == 5121 ? 1 : type == 5123 ? 2 : 4;
    std::vector<double> values;
    for (std::size_t at = begin; at < begin + bytes; at += size) {
      values.push_back(size == 1   ? At<std::uint8_t>(at)
                       : size == 2 ? At<std::uint16_t>(at)
                                   : double{At<float>(at)});
    }
    return values;
  }

 private:
  template <class T>
  T At(std::size_t offset) const {
    T value{};
    std::memcpy(&value, glb_.data() + offset, sizeof(T));
    return value;
  }
  const nlohmann::json& Samplers() const { return document_["animations"][0]["samplers"]; }

  void Place(std::size_t index, const AffineD& above, std::size_t key,
             std::vector<AffineD>& places) const {
    const auto& node = document_["nodes"][index];
    Trs trs;
    const auto read = [&](const char* path, auto& to) {
      if (node.contains(path)) to = node[path].get<std::decay_t<decltype(to)>>();
      for (const auto& channel : document_["animations"][0]["channels"]) {
        if (channel["target"]["node"] != index || channel["target"]["path"] != path) continue;
        const auto values = Accessor(Samplers()[channel["sampler"].get<std::size_t>()]["output"]);
        for (std::size_t k = 0; k < to.size(); ++k) to[k] = values[key * to.size() + k];
      }
    };
    read("translation", trs.translation);
    read("rotation", trs.rotation);
    read("scale", trs.scale);
    places[index] = Compose(above, ToAffine(trs));
    if (!node.contains("children")) return;
    for (const std::size_t child : node["children"]) Place(child, places[index], key, places);
  }

  void Blend(const nlohmann::json& attributes, const std::vector<AffineD>& matrices, bool linear,
             std::vector<float>& out) const {
    const std::vector<double> rest = Accessor(attributes["POSITION"]);
    std::vector<double> sums(rest.size());
    for (std::size_t k = 0; attributes.contains("_SINEW_AS_" + std::to_string(k)); ++k) {
      const std::string set = std::to_string(k / 4);
      const auto given = Accessor(attributes["_SINEW_AS_" + std::to_string(k)]);
      const auto joints = Accessor(attributes["JOINTS_" + set]);
      const auto weights = Accessor(attributes["WEIGHTS_" + set]);
      for (std::size_t v = 0; v < rest.size() / 3; ++v) {
        const auto& m = matrices[static_cast<std::size_t>(joints[4 * v + k % 4])].m;
        const double w = linear ? weights[4 * v + k % 4] : given[4 * v + 3];
        for (std::size_t r = 0; r < 3; ++r) {
          sums[3 * v + r] += w * m[4 * r + 3];
          for (std::size_t c = 0; c < 3; ++c) {
            const double offset = linear ? 0 : given[4 * v + c];
            sums[3 * v + r] += m[4 * r + c] * (w * rest[3 * v + c] + offset);
          }
        }
      }
    }
    out.insert(out.end(), sums.begin(), sums.end());
  }

  std::string glb_;
  std::size_t binary_ = 0;
  nlohmann::json document_;
};

}  // namespace sinew::testing
