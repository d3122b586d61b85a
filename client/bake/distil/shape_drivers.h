// shape_drivers.h - corrective shapes of a character, and how the turns of its joints drive them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/distil/corrective_shapes.h"
#include "core/distil/pose_samples.h"
#include "core/distil/product_shapes.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// Beyond half a turn the sense of a turn is the other one, so shapes jump there.
struct ShapeJump {
  std::uint32_t joint = 0;
  double distance = 0;  // by which shapes of it alone move a vertex at most
};

class ShapeDrivers {
 public:
  // Adds the shapes of a joint.
  void Add(std::uint32_t joint, JointShapes shapes);
  // Adds shapes of several joints.
  void Add(std::vector<ProductShapes> shapes);
  // Puts the shapes into the order of their energy; of equal ones, the first added comes first.
  void Sort();
  // Drops all but the first `most`. Returns how many are left out.
  std::size_t Cut(std::size_t most);
  // Sets the energy to what each does in some poses, sorts, drops shapes of several joints that
  // move no vertex by more than `least` and those of one joint that move none, then Cut.
  std::size_t Keep(std::size_t most, const ShapeValues& given, double least);

  std::size_t size() const { return played_.size(); }
  const CorrectiveShape& shape(std::size_t index) const { return played_[index].shape; }
  std::vector<CorrectiveShape*> Shapes();
  // [shapes] the joint of each; only while all are of one joint.
  std::vector<std::uint32_t> Joints() const;

  // [shapes] what a pose needs of each; `turns` [J], clamped to `ranges` [J].
  std::vector<double> Values(std::span<const Vec3d> turns, std::span<const TurnRange> ranges) const;
  // The joints whose ranges hold half a turn about the direction to an end, edge or corner of their
  // box, and whose shapes jump farther than `least` there.
  std::vector<ShapeJump> Jumps(std::span<const TurnRange> ranges, double least) const;
  std::string Name(std::size_t index, const client::RigData& rig) const;
  // What Values computes, for the `extras` of a skin: `turns` and `drivers`. Turns are about the
  // axes of glTF's nodes.
  nlohmann::ordered_json Describe(const client::RigData& rig, const TurnMeter& meter,
                                  std::span<const TurnRange> ranges) const;

 private:
  struct OfJoint {
    std::uint32_t joint = 0;
    JointShapes shapes;  // without vertices and offsets
  };
  struct Driver {
    std::size_t joint, index;  // of joints_, of its shapes
  };
  struct OfProducts {
    std::size_t sum;  // of products_
    bool subtracted;
  };
  struct Played {
    std::variant<Driver, OfProducts> driver;
    CorrectiveShape shape;
  };

  std::string Name(const OfProducts& of, const client::RigData& rig) const;

  std::vector<OfJoint> joints_;
  std::vector<TurnProducts> products_;
  std::vector<std::size_t> numbers_;  // [sums] of each among those of its joint, from 1
  std::vector<Played> played_;
};

}  // namespace sinew::bake
