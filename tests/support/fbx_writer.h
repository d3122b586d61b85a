// fbx_writer.h - writes FBX files with the parts that authoring tools use, as text and binary.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sinew::testing {

// A record of a file: a name, values, and records below it.
struct FbxRecord {
  using Value =
      std::variant<std::int32_t, std::int64_t, double, std::string, std::vector<std::int32_t>,
                   std::vector<std::int64_t>, std::vector<float>, std::vector<double>>;
  std::string name;
  std::vector<Value> values = {};
  std::vector<FbxRecord> children = {};
};

class FbxWriter {
 public:
  using Id = std::int64_t;  // 0 is the root of the scene
  using Properties = std::vector<FbxRecord>;

  enum class Curve : std::uint8_t { kStep, kStepNext, kLinear, kCubicAuto, kCubicUser };
  struct Key {
    double seconds = 0, value = 0;
    Curve curve = Curve::kLinear;            // from this key to the next
    double right_slope = 0, next_slope = 0;  // per second, of kCubicUser
  };
  using Keys = std::vector<Key>;

  struct Cluster {
    Id joint = 0;
    std::vector<std::int32_t> vertices = {};
    std::vector<double> weights = {};
    // 4x4, each column after the other: the mesh to the joint, and the joint to the scene, at bind.
    std::vector<double> transform = {}, link = {};
  };
  struct Target {
    double percent = 100;
    std::vector<std::int32_t> vertices;
    std::vector<double> offsets;
  };

  // A property as in a file: P: "Lcl Rotation", "Lcl Rotation", "", "A",1,2,3
  static FbxRecord Property(const std::string& name, const std::string& type,
                            const std::vector<double>& values);

  explicit FbxWriter(int up_axis = 1, double centimetres_per_unit = 1);

  // kind: LimbNode, Mesh or Null.
  Id AddModel(const std::string& name, const std::string& kind, Id parent,
              const Properties& properties = {});
  // faces: vertex numbers, the last of each face as -1 - number.
  Id AddMesh(Id model, const std::vector<double>& positions,
             const std::vector<std::int32_t>& faces);
  // holes: for each face, 1 for a hole.
  void AddHoles(Id mesh, const std::vector<std::int32_t>& holes);
  void ShowMesh(Id mesh, Id model) { Connect(mesh, model); }
  // method: Linear, Rigid, DualQuaternion or Blend; empty = not stated.
  void AddSkin(Id mesh, const std::vector<Cluster>& clusters, const std::string& method = "");
  Id AddBlendShape(Id mesh, const std::string& name, double percent,
                   const std::vector<Target>& targets);

  // A constraint that holds `object` at `source`.
  void AddConstraint(Id object, Id source);

  Id AddStack(const std::string& name, double begin, double end);
  Id AddLayer(Id stack, const std::string& name, const Properties& properties = {});
  // components: those of the property with their keys, as {"X", keys}; of a blend shape
  // {"DeformPercent", keys}.
  void Animate(Id layer, Id object, const std::string& property,
               const std::vector<std::pair<std::string, Keys>>& components);

  std::string Text() const;                      // version 7.4
  std::string Binary(int version = 7500) const;  // 7400 to 7700

 private:
  Id NewId() { return ++last_id_; }
  void Connect(Id child, Id parent, const std::string& property = "");
  // An object of the file, whose name has a class before or, in binary files, behind it.
  FbxRecord& AddObject(const std::string& record, Id id, const std::string& name,
                       const std::string& name_class, const std::string& kind);
  std::vector<FbxRecord> Records(int version) const;

  Id last_id_ = 1000;
  FbxRecord settings_{"GlobalSettings"}, objects_{"Objects"}, connections_{"Connections"};
};

}  // namespace sinew::testing
