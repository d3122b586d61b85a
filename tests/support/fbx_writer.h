// fbx_writer.h - writes FBX 7.4 files as text, with the parts that authoring tools use.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sinew::testing {

class FbxWriter {
 public:
  using Id = std::int64_t;  // 0 is the root of the scene

  enum class Curve : std::uint8_t { kStep, kStepNext, kLinear, kCubicAuto, kCubicUser };
  struct Key {
    double seconds = 0, value = 0;
    Curve curve = Curve::kLinear;            // from this key to the next
    double right_slope = 0, next_slope = 0;  // per second, of kCubicUser
  };
  using Keys = std::vector<Key>;

  struct Cluster {
    Id joint = 0;
    std::vector<int> vertices = {};
    std::vector<double> weights = {};
    // 4x4, each column after the other: the mesh to the joint, and the joint to the scene, at bind.
    std::vector<double> transform = {}, link = {};
  };
  struct Target {
    double percent = 100;
    std::vector<int> vertices;
    std::vector<double> offsets;
  };

  // The property in the form of a file: P: "Lcl Rotation", "Lcl Rotation", "", "A",1,2,3
  static std::string Property(const std::string& name, const std::string& type,
                              const std::vector<double>& values);

  explicit FbxWriter(int up_axis = 1, double centimetres_per_unit = 1);

  // kind: LimbNode, Mesh or Null. properties: lines of Property().
  Id AddModel(const std::string& name, const std::string& kind, Id parent,
              const std::string& properties = "");
  // faces: vertex numbers, the last of each face as -1 - number.
  Id AddMesh(Id model, const std::vector<double>& positions, const std::vector<int>& faces);
  void ShowMesh(Id mesh, Id model) { Connect(mesh, model); }
  void AddSkin(Id mesh, const std::vector<Cluster>& clusters, const std::string& method = "");
  Id AddBlendShape(Id mesh, const std::string& name, double percent,
                   const std::vector<Target>& targets);

  Id AddStack(const std::string& name, double begin, double end);
  Id AddLayer(Id stack, const std::string& name, const std::string& properties = "");
  // components: those of the property with their keys, as {"X", keys}; of a blend shape
  // {"DeformPercent", keys}.
  void Animate(Id layer, Id object, const std::string& property,
               const std::vector<std::pair<std::string, Keys>>& components);

  std::string Text() const;

 private:
  Id NewId() { return ++last_id_; }
  void Connect(Id child, Id parent, const std::string& property = "");

  Id last_id_ = 1000;
  std::string settings_, objects_, connections_;
};

}  // namespace sinew::testing
