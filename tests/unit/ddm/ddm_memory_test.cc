// What binding really allocates, against what it announces.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "core/deform/ddm/ddm.h"
#include "tests/assets/run_method.h"
#include "tests/assets/small_rigs.h"
#include "tests/assets/tube.h"

namespace {

// Bytes in use through operator new, and their peak.
std::atomic<std::ptrdiff_t> in_use{0}, peak{0};

void* Count(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const auto bytes = static_cast<std::ptrdiff_t>(malloc_usable_size(block));
  const std::ptrdiff_t now = in_use.fetch_add(bytes) + bytes;
  for (std::ptrdiff_t seen = peak; now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return block;
}

void Discount(void* block) {
  in_use.fetch_sub(static_cast<std::ptrdiff_t>(malloc_usable_size(block)));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return Count(std::malloc(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return Count(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}
void operator delete(void* block) noexcept {
  Discount(block);
}
void operator delete(void* block, std::size_t) noexcept {
  Discount(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  Discount(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  Discount(block);
}

namespace sinew {
namespace {

struct Measured {
  std::size_t peak = 0, announced = 0;
};

Measured BindMeasured(const Rig& rig, const DdmParams& params) {
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const BindInput input = {rig, *layout, {}};
  Task task;
  Measured measured;
  measured.announced = DdmTables::Cost(input, params)->peak_bytes;
  const std::ptrdiff_t before = in_use;
  peak = before;
  const auto bound = DdmTables::Bind(input, params, {}, task);
  EXPECT_TRUE(bound.ok()) << bound.status();
  measured.peak = static_cast<std::size_t>(peak - before);
  return measured;
}

// Small things that do not grow with the mesh: scheduler, cosine tables.
constexpr std::size_t kFixed = 1 << 20;

TEST(DdmMemory, StaysBelowWhatIsAnnounced) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const Measured measured = BindMeasured(named.rig, {});
    EXPECT_LE(measured.peak, measured.announced + kFixed) << named.name;
  }
  for (const testing::TubeOptions& tube :
       {testing::TubeOptions{.rings = 400,
       .around = 100,
       .joints = 20,
       .length = 20,
       .weights = testing::TubeWeights::kFour},
        {.rings = 400, .around = 100, .joints = 2},
        {.rings = 4000, .around = 10, .joints = 200, .length = 100}}) {
    const Rig rig = testing::TubeRig(tube);
    for (const Laplacian laplacian : {Laplacian::kUniform, Laplacian::kCotangent}) {
      for (const float truncation : {0.0f, 1e-3f}) {
        DdmParams params;
        params.laplacian = laplacian;
        params.truncation = truncation;
        const Measured measured = BindMeasured(rig, params);
        EXPECT_LE(measured.peak, measured.announced + kFixed) << tube.joints << " joints";
        EXPECT_GE(measured.peak, measured.announced / 6) << tube.joints << " joints";
      }
    }
  }
}

TEST(DdmMemory, CountsShapes) {
  RigSource source = testing::TubeSource({.rings = 200, .around = 50});
  source.controls = {{.name = "a"}};
  source.shapes = {{.control = 0, .targets = {}}};
  for (int t = 1; t <= 20; ++t) {
    ShapeTarget target;
    target.weight = static_cast<float>(t);
    for (std::uint32_t v = 0; v < 10000; ++v) {
      target.vertices.push_back(v);
      target.offsets.push_back({1, static_cast<float>(t), 0});
    }
    source.shapes[0].targets.push_back(target);
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const Measured measured = BindMeasured(rig, {});
  EXPECT_LE(measured.peak, measured.announced + kFixed);
}

}  // namespace
}  // namespace sinew
