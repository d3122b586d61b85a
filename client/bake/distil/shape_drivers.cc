#include "client/bake/distil/shape_drivers.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "core/base/trs.h"
#include "core/base/vectors.h"

namespace sinew::bake {

using Json = nlohmann::ordered_json;

namespace {

constexpr double kNearHalfTurn = 5 * std::numbers::pi / 180;

// Half turns in a range, by up to kNearHalfTurn, in the directions of its ends, edges and corners.
std::vector<Vec3d> HalfTurns(const TurnRange& range) {
  std::vector<Vec3d> turns;
  for (const double x : {range.low.x, 0.0, range.high.x}) {
    for (const double y : {range.low.y, 0.0, range.high.y}) {
      for (const double z : {range.low.z, 0.0, range.high.z}) {
        const double length = Length({x, y, z});
        if (length < kNearHalfTurn) continue;
        const Vec3d turn = (std::numbers::pi / length) * Vec3d{x, y, z};
        if (Length(range.Clamp(turn) - turn) <= kNearHalfTurn) turns.push_back(turn);
      }
    }
  }
  return turns;
}

}  // namespace

void ShapeDrivers::Add(std::uint32_t joint, JointShapes shapes) {
  for (std::size_t k = 0; k < shapes.shapes.size(); ++k) {
    CorrectiveShape& from = shapes.shapes[k];
    played_.push_back({.driver = Driver{joints_.size(), k},
                       .shape = {.vertices = std::exchange(from.vertices, {}),
                                 .offsets = std::exchange(from.offsets, {}),
                                 .energy = from.energy,
                                 .kernel_weights = {}}});
  }
  joints_.push_back({joint, std::move(shapes)});
}

void ShapeDrivers::Add(std::vector<ProductShapes> shapes) {
  std::map<std::uint32_t, std::size_t> of_joint;
  for (ProductShapes& both : shapes) {
    played_.push_back({OfProducts{products_.size(), false}, std::move(both.added)});
    played_.push_back({OfProducts{products_.size(), true}, std::move(both.subtracted)});
    numbers_.push_back(++of_joint[both.driver.joint]);
    products_.push_back(std::move(both.driver));
  }
}

void ShapeDrivers::Sort() {
  std::ranges::stable_sort(played_, std::ranges::greater{},
                           [](const Played& played) { return played.shape.energy; });
}

std::size_t ShapeDrivers::Cut(std::size_t most) {
  const std::size_t more = played_.size() - std::min(played_.size(), most);
  played_.resize(played_.size() - more);
  return more;
}

std::size_t ShapeDrivers::Keep(std::size_t most, const ShapeValues& given, double least) {
  const std::size_t count = played_.size();
  for (std::size_t k = 0; k < count; ++k) {
    CorrectiveShape& shape = played_[k].shape;
    double values = 0, offsets = 0;
    for (std::size_t f = 0; f < given.poses(); ++f) {
      const double value = given.values[f * count + k];
      values += given.weights[f] * value * value;
    }
    for (const Vec3f& offset : shape.offsets) offsets += Dot(ToDouble(offset), ToDouble(offset));
    shape.energy = values * offsets;
  }
  Sort();
  std::erase_if(played_, [&](const Played& played) {
    const double needed =
        std::holds_alternative<OfProducts>(played.driver) ? least : 0;  // of a single joint: any
    return std::ranges::all_of(played.shape.offsets, [&](const Vec3f& offset) {
      return Length(ToDouble(offset)) <= needed;
    });
  });
  return Cut(most);
}

std::vector<CorrectiveShape*> ShapeDrivers::Shapes() {
  std::vector<CorrectiveShape*> shapes;
  for (Played& played : played_) shapes.push_back(&played.shape);
  return shapes;
}

std::vector<std::uint32_t> ShapeDrivers::Joints() const {
  std::vector<std::uint32_t> joints;
  for (const Played& played : played_) {
    joints.push_back(joints_[std::get<Driver>(played.driver).joint].joint);
  }
  return joints;
}

std::vector<double> ShapeDrivers::Values(std::span<const Vec3d> turns,
                                         std::span<const TurnRange> ranges) const {
  std::vector<Vec3d> clamped(turns.begin(), turns.end());
  for (std::size_t j = 0; j < clamped.size(); ++j) clamped[j] = ranges[j].Clamp(turns[j]);
  std::vector<double> sums, values;
  for (const TurnProducts& products : products_) sums.push_back(products.Sum(clamped));
  for (const Played& played : played_) {
    if (const auto* const of = std::get_if<OfProducts>(&played.driver)) {
      values.push_back(std::clamp(of->subtracted ? -sums[of->sum] : sums[of->sum], 0.0, 1.0));
    } else {
      const auto& [place, index] = std::get<Driver>(played.driver);
      values.push_back(joints_[place].shapes.Value(index, clamped[joints_[place].joint]));
    }
  }
  return values;
}

std::vector<ShapeJump> ShapeDrivers::Jumps(std::span<const TurnRange> ranges, double least) const {
  std::map<std::size_t, std::vector<const Played*>> shapes;  // of each of joints_
  for (const Played& played : played_) {
    if (const auto* const driver = std::get_if<Driver>(&played.driver)) {
      shapes[driver->joint].push_back(&played);
    }
  }
  std::vector<ShapeJump> jumps;
  for (const auto& [place, own] : shapes) {
    ShapeJump jump{.joint = joints_[place].joint};
    for (const Vec3d& half : HalfTurns(ranges[jump.joint])) {
      const Vec3d before = ranges[jump.joint].Clamp(half);
      const Vec3d after = ranges[jump.joint].Clamp(-1.0 * half);
      std::map<std::uint32_t, Vec3d> moved;
      for (const Played* played : own) {
        const std::size_t index = std::get<Driver>(played->driver).index;
        const double value =
            joints_[place].shapes.Value(index, after) - joints_[place].shapes.Value(index, before);
        for (std::size_t k = 0; k < played->shape.vertices.size(); ++k) {
          Vec3d& sum = moved[played->shape.vertices[k]];
          sum = sum + value * ToDouble(played->shape.offsets[k]);
        }
      }
      for (const auto& [vertex, by] : moved) jump.distance = std::max(jump.distance, Length(by));
    }
    if (jump.distance > least) jumps.push_back(jump);
  }
  return jumps;
}

std::string ShapeDrivers::Name(const OfProducts& of, const client::RigData& rig) const {
  return absl::StrCat(rig.joints[products_[of.sum].joint].name, " with others ", numbers_[of.sum],
                      of.subtracted ? " subtracted" : "");
}

std::string ShapeDrivers::Name(std::size_t index, const client::RigData& rig) const {
  if (const auto* const of = std::get_if<OfProducts>(&played_[index].driver)) return Name(*of, rig);
  const auto& [place, number] = std::get<Driver>(played_[index].driver);
  return absl::StrCat(rig.joints[joints_[place].joint].name, " shape ", number + 1);
}

Json ShapeDrivers::Describe(const client::RigData& rig, const TurnMeter& meter,
                            std::span<const TurnRange> ranges) const {
  const auto vector = [](const Vec3d& v) { return Json::array({v.x, v.y, v.z}); };
  // A mirror is a negative scale z in a node of glTF, and of all axes in turns: half a turn about z
  // lies between the two.
  const Mat3d half_turn = {{-1, 0, 0, 0, -1, 0, 0, 0, 1}};
  const auto axes = [&](std::uint32_t joint) { return meter.mirrors(joint) ? half_turn : Mat3d{}; };
  Json drivers = Json::array();
  std::set<std::uint32_t> used;     // joints
  std::set<std::size_t> described;  // of products_
  for (std::size_t k = 0; k < played_.size(); ++k) {
    if (const auto* const driver = std::get_if<Driver>(&played_[k].driver)) {
      const auto& [joint, shapes] = joints_[driver->joint];
      used.insert(joint);
      drivers.push_back({{"target", Name(k, rig)},
                         {"joint", rig.joints[joint].name},
                         {"weights", shapes.shapes[driver->index].kernel_weights}});
      continue;
    }
    const auto& of = std::get<OfProducts>(played_[k].driver);
    const auto& [joint, others] = products_[of.sum];
    const OfProducts added{of.sum, false};
    if (described.insert(of.sum).second) {
      used.insert(joint);
      Json products = Json::array();
      for (const TurnProducts::Other& other : others) {
        used.insert(other.joint);
        products.push_back(
            {{"joint", rig.joints[other.joint].name},
             {"matrix", Multiply(axes(joint), Multiply(other.matrix, axes(other.joint))).m}});
      }
      drivers.push_back({{"target", Name(added, rig)},
                         {"joint", rig.joints[joint].name},
                         {"products", std::move(products)}});
    }
    if (of.subtracted) {
      drivers.push_back({{"target", Name(of, rig)}, {"negative_of", Name(added, rig)}});
    }
  }
  std::map<std::uint32_t, const std::vector<Vec3d>*> samples;
  for (const OfJoint& of : joints_) samples[of.joint] = &of.shapes.samples;
  Json turns = Json::array();
  for (const std::uint32_t joint : used) {
    const TurnRange& range = ranges[joint];
    const bool mirrors = meter.mirrors(joint);
    Json of_joint = Json::array();
    for (const Vec3d& turn : *samples.at(joint))
      of_joint.push_back(vector(Multiply(axes(joint), turn)));
    turns.push_back(
        {{"joint", rig.joints[joint].name},
         {"from", QuaternionOf(Multiply(meter.rest(joint), axes(joint)))},
         {"low", vector(mirrors ? Vec3d{-range.high.x, -range.high.y, range.low.z} : range.low)},
         {"high", vector(mirrors ? Vec3d{-range.low.x, -range.low.y, range.high.z} : range.high)},
         {"longest", range.most},
         {"samples", std::move(of_joint)}});
  }
  return {{"turns", std::move(turns)}, {"drivers", std::move(drivers)}};
}

}  // namespace sinew::bake
