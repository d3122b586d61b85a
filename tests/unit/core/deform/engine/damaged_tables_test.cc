// Bound data with one wrong value and a valid checksum: loading fails and names the table. Tables
// of another size are a law of every method (tests/laws).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/base/table_io.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;

// The value of another element.
struct SameAs {
  std::size_t element;
};
using Value = std::variant<float, double, std::uint8_t, std::uint16_t, std::uint32_t, SameAs>;

struct Row {
  const char* recipe;
  const char* table;
  std::size_t element;  // in values of this type; kLast, kEvery
  Value value;
  const char* named = nullptr;  // in the message; null: the table
};

constexpr std::size_t kLast = ~std::size_t{0}, kEvery = kLast - 1;
constexpr float kNan = NAN, kInfinite = INFINITY;
constexpr std::uint8_t kTwo = 2, kFive = 5;
constexpr std::uint16_t kWild = 999;

constexpr const char *kSigns = "dqs(blend=0.5, signs=parent, blend_map=share)",
                     *kBisector = "dqs | bulge_free(method=bisector)",
                     *kSets = "spherical_blend(centres=per_set)",
                     *kMush = "dqs | delta_mush(laplacian=cotangent)",
                     *kDirect = "lbs | delta_mush", *kMarch = "dqs | implicit(projection=march)";

const Row kRows[] = {
    {"lbs", "joint_entry", 0, kWild},
    {"lbs", "weights", 5, 1.5f},
    {kSigns, "bindings", 0, 3u},
    {kSigns, "blend", 0, -1.0f},
    {kSigns, "blend", 0, kNan},
    {kSigns, "blend_lanes", 5, 1.5f},
    {kSigns, "joint_entry", 0, kWild},
    {kSigns, "sign_order", 1, SameAs{0}},
    {kSigns, "sign_order", 1, kWild},
    {kSigns, "sign_parent", 0, kWild},
    {"shapes | lbs", "shape_target", 1, SameAs{2}},
    {"shapes | lbs", "target_weight", 0, 0.0f},
    {"shapes | lbs", "target_weight", 0, kNan},
    {"shapes | lbs", "target_weight", 2, SameAs{3}},
    {"shapes | lbs", "target_pair", 1, 1u << 30},
    {"shapes | lbs", "pair_block", 1, SameAs{0}},
    {"shapes | lbs", "pair_block", kLast, 1u << 30},
    {"shapes | lbs", "offsets", kLast, kInfinite},
    {"shapes | lbs", "strength", 0, 11.0f},
    {"dqs | bulge_free", "shares", 0, kNan},
    {"dqs | bulge_free", "width", 0, -1.0f},
    {"dqs | bulge_free", "joint_entry", 0, kWild},
    {"dqs | bulge_free", "root", kLast, HUGE_VAL},
    {kBisector, "pair_couple", kLast, 100u},
    {kBisector, "lower", kLast, kWild},
    {kBisector, "upper_direction", kLast, std::nan("")},
    {"spherical_blend", "origins", 1, std::nan("")},
    {"spherical_blend", "pair_relation", kEvery, 999u},
    {"spherical_blend", "pair_relation", kEvery, 0u},
    {"spherical_blend", "expected", 90, kNan},
    {kSets, "set_expected", 0, HUGE_VAL},
    {kSets, "lane_set", kLast, 99u},
    {kSets, "set_entry", kLast, kWild},
    {kSets, "set_offset", kLast, 0u},
    {"cor", "bindings", 0, 9u},
    {"cor", "centres", 7, kNan},
    {"cor", "pieces", 0, kNan},
    {"cor", "pieces", 0, kInfinite},
    {"cor", "blur", 0, -1.0f},
    {"ddm", "joint_entry", 0, kWild},
    {"ddm", "moments", 7, kInfinite},
    {"ddm", "bindings", 0, 1u},
    {"ddm", "variant", 0, 6u, "moments"},
    {"ddm", "variant", 0, 1u, "fit"},
    {"ddm", "alpha", 0, 0.5f, "moments"},
    {"ddm", "alpha", 0, kNan},
    {"ddm", "pop_guard", 0, 2u},
    {"ddm(variant=1)", "fit", 3, kInfinite},
    {"ddm(variant=5)", "variant", 0, 6u, "centroid"},
    {"ddm(variant=4)", "slopes", 0, kNan},
    {"ddm(variant=4)", "centre_slopes", 0, kNan},
    {"enhanced_ddm(variant=4)", "variant", 0, 5u, "centroid"},
    {kMush, "iterations", 0, 1001u},
    {kMush, "iterations", 0, 0u, "point_lane"},
    {kMush, "even", 0, 1u, "weights"},
    {kMush, "even", 0, 2u},
    {kMush, "point_lane", 3, 1u << 20},
    {kMush, "row_offset", 3, 1u << 20},
    {kMush, "neighbours", 3, 1u << 20},
    {kMush, "weights", 3, -0.1f},
    {kMush, "weights", 3, kNan},
    {kMush, "frame_points", 3, ~1u},  // -2
    {kMush, "frame_points", 3, 1u << 20},
    {kMush, "frame_turn", 3, kInfinite},
    {kMush, "lane_point", 3, ~0u},
    {kMush, "offset", 3, kNan},
    {kMush, "triangles", 3, ~0u},
    {kMush, "faces", 3, ~0u},
    {kMush, "stepped", 0, 0u},
    {kDirect, "stepped", 0, 2u},
    {kDirect, "joint_offset", 1, 1u << 20},
    {kDirect, "joint_entry", 0, kWild},
    {kDirect, "joint_entry", kEvery, SameAs{0}},
    {kDirect, "moments", 3, kNan},
    {kDirect, "still", 3, kTwo},
    {"lbs | relax", "iterations", 0, 0u},
    {"lbs | relax", "iterations", 0, 101u},
    {"lbs | relax", "strength", 0, kNan},
    {"lbs | relax", "point_lane", 3, 1u << 20},
    {"lbs | relax", "lane_point", kLast, ~0u},
    {"lbs | relax", "group_steps", 3, 1u << 20},
    {"lbs | relax", "ring", 3, ~0u},
    {"lbs | relax", "weights", 3, -1.0f},
    {"lbs | relax", "group_closed", 2, kTwo},
    {"dqs | implicit", "contact", 0, 2u},
    {"dqs | implicit", "joints", 0, 1u, "field_joint"},
    {"dqs | implicit", "field_joint", 0, 7u},
    {"dqs | implicit", "field_joint", 0, SameAs{1}},
    {"dqs | implicit", "field_to_joint", 0, std::nan("")},
    {"dqs | implicit", "field_size", 0, 1e300},
    {"dqs | implicit", "field_size", 1, 1e-300},
    {"dqs | implicit", "field_reach", 0, 1e300},
    {"dqs | implicit", "field_reach", 0, 0.0},
    {"dqs | implicit", "field_reach", 0, std::nan("")},
    {"dqs | implicit", "field_box", 0, kNan},
    {"dqs | implicit", "field_centre_offset", 0, 1u},
    {"dqs | implicit", "field_centres", 0, kNan},
    {"dqs | implicit", "field_figures", 0, std::nan("")},
    {"dqs | implicit", "field_unit", 0, 0.0},
    {"dqs | implicit", "field_unit", 0, 1e300, "field_size"},
    {"dqs | implicit", "point_lane", 3, 1u << 20},
    {"dqs | implicit", "role", 3, kFive},
    {"dqs | implicit", "level_from_bone", 3, -1.0f},
    {"dqs | implicit", "level_owner", 3, kWild},
    {"dqs | implicit", "level", 3, kNan},
    {"dqs | implicit", "level_move_share", 3, 2.0f},
    {"dqs | implicit", "level_restore_share", 3, -1.0f},
    {"dqs | implicit", "level_neighbours", kLast, ~0u},
    {"dqs | implicit", "level_part", 0, kWild},
    {"dqs | implicit", "ring_offset", 3, 1u << 20},
    {"dqs | implicit", "ring_point", 3, 1u << 20},
    {"dqs | implicit", "ring_weight", 3, 1.0f},
    {"dqs | implicit", "ring_spacing", 3, -1.0f},
    {"dqs | implicit", "ring_spacing", 3, 1e-30f},
    {kMarch, "march_part", 3, kWild},
    {kMarch, "march_level", 3, kNan},
    {kMarch, "march_ring", 3, 1u << 20},
    {kMarch, "march_ring_weight", 3, -1.0f},
    {kMarch, "march_ring_offset", kLast, ~0u},
    {kMarch, "march_max_iterations", 0, 0u},
    {kMarch, "march_step_length", 0, 0.0f},
    {kMarch, "march_smoothing", 0, 51u},
    {kMarch, "march_gradient_threshold", 0, kNan},
};

// Every table of every recipe above has something in it.
std::string Bound(const std::string& recipe) {
  RigSource source = testing::TubeWithShapesSource();
  source.maps = {{"share", std::vector<float>(source.mesh.positions.size(), 0.5f)}};
  Task task;
  const auto deformer =
      Deformer::Bind(testing::MakeRig(std::move(source)), *ParseRecipe(recipe), task);
  EXPECT_TRUE(deformer.ok()) << recipe << ": " << deformer.status();
  TableWriter writer;
  if (deformer.ok()) deformer->Save(writer);
  return writer.Finish();
}

absl::Status LoadDamaged(const std::string& file, const Row& row, const std::string& table) {
  const auto reader = TableReader::Open(file);
  TableWriter writer;
  bool found = false;
  for (const TableReader::Table& t : reader->Tables()) {
    std::vector<std::byte> bytes(t.bytes.begin(), t.bytes.end());
    if (t.name == table) {
      found = true;
      std::visit(
          [&]<class T>(const T& value) {
            constexpr bool kSame = std::is_same_v<T, SameAs>;
            const std::size_t size = kSame ? t.element_bytes : sizeof(T),
                              count = bytes.size() / size;
            const std::size_t first = row.element == kEvery  ? 0
                                      : row.element == kLast ? count - 1
                                                             : row.element;
            const std::size_t end = row.element == kEvery ? count : first + 1;
            ASSERT_TRUE(first < end && end <= count) << table;
            for (std::size_t i = first; i < end; ++i) {
              if constexpr (kSame) {
                std::memcpy(&bytes[i * size], t.bytes.data() + value.element * size, size);
              } else {
                std::memcpy(&bytes[i * size], &value, size);
              }
            }
          },
          row.value);
    }
    writer.AddBytes(t.name, t.element_bytes, bytes);
  }
  EXPECT_TRUE(found) << table;
  const std::string damaged = writer.Finish();
  return Deformer::Load(*TableReader::Open(damaged)).status();
}

TEST(BoundData, LoadNamesTableWithWrongValue) {
  std::map<std::string, std::string> files;
  for (const Row& row : kRows) {
    std::string& file = files[row.recipe];
    if (file.empty()) {
      file = Bound(row.recipe);
      ASSERT_TRUE(Deformer::Load(*TableReader::Open(file)).ok()) << row.recipe;
    }
    const bool second = std::strchr(row.recipe, '|') != nullptr && row.recipe[0] != 's';
    const absl::Status status =
        LoadDamaged(file, row, std::string(second ? "stage/1/" : "stage/0/") + row.table);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << row.recipe << " " << row.table;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string(row.named ? row.named : row.table) + ": "))
        << row.recipe;
  }
}

}  // namespace
}  // namespace sinew
