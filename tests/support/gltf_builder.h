// gltf_builder.h - writes small glTF files for tests: editable JSON and one buffer.
#pragma once

#include <gtest/gtest.h>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace sinew::testing {

// A path of the current test, in a folder that is deleted when the program ends.
inline std::string TemporaryPath(const std::string& name) {
  static const TemporaryFolder folder;
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string unique = std::string(info->test_suite_name()) + "." + info->name() + "." + name;
  for (char& c : unique) c = c == '/' ? '_' : c;
  return folder / unique;
}

inline std::string WriteFile(const std::string& name, const std::string& content) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

class GltfBuilder {
 public:
  nlohmann::json doc = {{"asset", {{"version", "2.0"}}}};
  std::string buffer;

  template <class T>
  int AddView(const std::vector<T>& values, std::size_t stride = 0) {
    while (buffer.size() % 4 != 0) buffer.push_back('\0');
    nlohmann::json view = {
        {"buffer", 0}, {"byteOffset", buffer.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (stride > 0) view["byteStride"] = stride;
    buffer.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return Push("bufferViews", view);
  }

  template <class T>
  int AddAccessor(const std::vector<T>& values, const std::string& type, bool normalized = false) {
    nlohmann::json accessor = {{"bufferView", AddView(values)},
                               {"componentType", ComponentType<T>()},
                               {"type", type},
                               {"count", values.size() / Width(type)}};
    if (normalized) accessor["normalized"] = true;
    return Push("accessors", accessor);
  }

  int Push(const char* list, const nlohmann::json& element) {
    doc[list].push_back(element);
    return static_cast<int>(doc[list].size()) - 1;
  }

  std::string Glb() const {
    nlohmann::json whole = doc;
    std::string bin = buffer;
    while (bin.size() % 4 != 0) bin.push_back('\0');
    if (!whole.contains("buffers")) whole["buffers"] = {{{"byteLength", buffer.size()}}};
    std::string json = whole.dump();
    while (json.size() % 4 != 0) json.push_back(' ');
    const auto number = [](std::size_t n) {
      const auto value = static_cast<std::uint32_t>(n);
      return std::string(reinterpret_cast<const char*>(&value), 4);
    };
    return "glTF" + number(2) + number(28 + json.size() + bin.size()) + number(json.size()) +
           "JSON" + json + number(bin.size()) + std::string("BIN\0", 4) + bin;
  }

  std::string Write() const { return WriteFile("scene.glb", Glb()); }

  template <class T>
  static constexpr int ComponentType() {
    if constexpr (std::is_same_v<T, float>) return 5126;
    if constexpr (std::is_same_v<T, std::int8_t>) return 5120;
    if constexpr (std::is_same_v<T, std::uint8_t>) return 5121;
    if constexpr (std::is_same_v<T, std::int16_t>) return 5122;
    if constexpr (std::is_same_v<T, std::uint16_t>) return 5123;
    return 5125;
  }

  static std::size_t Width(const std::string& type) {
    return type == "SCALAR" ? 1 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 16;
  }
};

// Four vertices, two triangles, two joints: node 0 mesh, 1 root joint at the origin, 2 its child at
// y = 1. Accessors: 0 POSITION, 1 JOINTS_0, 2 WEIGHTS_0, 3 indices, 4 inverse binds.
inline GltfBuilder MakeStrip() {
  GltfBuilder b;
  b.AddAccessor<float>({0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0}, "VEC3");
  b.AddAccessor<std::uint8_t>({0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, "VEC4");
  b.AddAccessor<float>({1, 0, 0, 0, 0.75f, 0.25f, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0}, "VEC4");
  b.AddAccessor<std::uint16_t>({0, 1, 2, 0, 2, 3}, "SCALAR");
  b.AddAccessor<float>({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                        1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1},
                       "MAT4");
  b.Push(
      "meshes",
      {{"name", "strip"},
       {"primitives",
        {{{"attributes", {{"POSITION", 0}, {"JOINTS_0", 1}, {"WEIGHTS_0", 2}}}, {"indices", 3}}}}});
  b.Push("nodes", {{"name", "Strip"}, {"mesh", 0}, {"skin", 0}});
  b.Push("nodes", {{"name", "root"}, {"children", {2}}});
  b.Push("nodes", {{"name", "tip"}, {"translation", {0, 1, 0}}});
  b.Push("skins", {{"joints", {1, 2}}, {"inverseBindMatrices", 4}});
  return b;
}

// Adds an animation with one channel; returns its index.
inline int AddAnimation(GltfBuilder& b, int node, const std::string& path,
                        const std::vector<float>& times, const std::vector<float>& values,
                        const std::string& type, const std::string& interpolation) {
  const int input = b.AddAccessor(times, "SCALAR"), output = b.AddAccessor(values, type);
  return b.Push(
      "animations",
      {{"name", "clip"},
       {"samplers", {{{"input", input}, {"output", output}, {"interpolation", interpolation}}}},
       {"channels", {{{"sampler", 0}, {"target", {{"node", node}, {"path", path}}}}}}});
}

}  // namespace sinew::testing
