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
    played_.push_back({.first = {joints_.size(), k},
                       .second = {},
                       .shape = {.vertices = std::exchange(from.vertices, {}),
                                 .offsets = std::exchange(from.offsets, {}),
                                 .energy = from.energy,
                                 .kernel_weights = {}}});
  }
  joints_.push_back({joint, std::move(shapes)});
}

void ShapeDrivers::Add(std::vector<ShapePair> pairs) {
  for (ShapePair& pair : pairs) {
    Played played = {.first = played_[pair.first].first,
                     .second = played_[pair.second].first,
                     .shape = std::move(pair.shape)};
    played_.push_back(std::move(played));
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
    const double needed = played.second ? least : 0;  // of a single joint: any
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
  for (const Played& played : played_) joints.push_back(joints_[played.first.joint].joint);
  return joints;
}

double ShapeDrivers::Value(const Driver& driver, std::span<const Vec3d> turns) const {
  return joints_[driver.joint].shapes.Value(driver.index, turns[joints_[driver.joint].joint]);
}

std::vector<double> ShapeDrivers::Values(std::span<const Vec3d> turns,
                                         std::span<const TurnRange> ranges) const {
  std::vector<Vec3d> clamped(turns.begin(), turns.end());
  for (std::size_t j = 0; j < clamped.size(); ++j) clamped[j] = ranges[j].Clamp(turns[j]);
  std::vector<double> values;
  for (const Played& played : played_) {
    const double second = played.second ? Value(*played.second, clamped) : 1;
    values.push_back(second * Value(played.first, clamped));
  }
  return values;
}

std::vector<ShapeJump> ShapeDrivers::Jumps(std::span<const TurnRange> ranges, double least) const {
  std::map<std::size_t, std::vector<const Played*>> shapes;  // of each of joints_
  for (const Played& played : played_) {
    if (!played.second) shapes[played.first.joint].push_back(&played);
  }
  std::vector<ShapeJump> jumps;
  for (const auto& [place, own] : shapes) {
    ShapeJump jump{.joint = joints_[place].joint};
    for (const Vec3d& half : HalfTurns(ranges[jump.joint])) {
      const Vec3d before = ranges[jump.joint].Clamp(half);
      const Vec3d after = ranges[jump.joint].Clamp(-1.0 * half);
      std::map<std::uint32_t, Vec3d> moved;
      for (const Played* played : own) {
        const double value = joints_[place].shapes.Value(played->first.index, after) -
                             joints_[place].shapes.Value(played->first.index, before);
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

std::string ShapeDrivers::Name(const Driver& driver, const client::RigData& rig) const {
  return absl::StrCat(rig.joints[joints_[driver.joint].joint].name, " shape ", driver.index + 1);
}

std::string ShapeDrivers::Name(std::size_t index, const client::RigData& rig) const {
  const Played& played = played_[index];
  const std::string first = Name(played.first, rig);
  return played.second ? absl::StrCat(first, " x ", Name(*played.second, rig)) : first;
}

Json ShapeDrivers::Describe(const client::RigData& rig, const TurnMeter& meter,
                            std::span<const TurnRange> ranges) const {
  const auto vector = [](const Vec3d& v) { return Json::array({v.x, v.y, v.z}); };
  // A mirror is a negative scale z in a node of glTF, and of all axes in turns: half a turn about z
  // lies between the two.
  const Mat3d half_turn = {{-1, 0, 0, 0, -1, 0, 0, 0, 1}};
  Json drivers = Json::array();
  std::set<Driver> described;
  const auto describe = [&](const Driver& driver) {
    if (!described.insert(driver).second) return;
    const auto& [joint, shapes] = joints_[driver.joint];
    const TurnRange& range = ranges[joint];
    const bool mirrors = meter.mirrors(joint);
    const Mat3d from = mirrors ? Multiply(meter.rest(joint), half_turn) : meter.rest(joint);
    const Vec3d low = mirrors ? Vec3d{-range.high.x, -range.high.y, range.low.z} : range.low;
    const Vec3d high = mirrors ? Vec3d{-range.low.x, -range.low.y, range.high.z} : range.high;
    Json samples = Json::array();
    for (const Vec3d& turn : shapes.samples) {
      samples.push_back(vector(mirrors ? Multiply(half_turn, turn) : turn));
    }
    drivers.push_back({{"target", Name(driver, rig)},
                       {"joint", rig.joints[joint].name},
                       {"from", QuaternionOf(from)},
                       {"low", vector(low)},
                       {"high", vector(high)},
                       {"longest", range.most},
                       {"samples", std::move(samples)},
                       {"weights", shapes.shapes[driver.index].kernel_weights}});
  };
  for (std::size_t k = 0; k < played_.size(); ++k) {
    const auto& [first, second, shape] = played_[k];
    describe(first);
    if (!second) continue;
    describe(*second);
    drivers.push_back(
        {{"target", Name(k, rig)}, {"product_of", {Name(first, rig), Name(*second, rig)}}});
  }
  return drivers;
}

}  // namespace sinew::bake
