// field_bench - what a composed field costs: one part of 52 centres by instruction set, and the
// canonical limb whole. Nanoseconds a point, one thread, median of rounds. Run it by hand:
// build/release/bin/field_bench.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "core/deform/implicit/field/hrbf_kernel.h"
#include "core/deform/implicit/field/poisson_disk.h"
#include "core/deform/method/fields.h"
#include "core/parallel/task.h"
#include "core/simd/target.h"
#include "tests/support/canonical_limb.h"

namespace sinew {
namespace {

constexpr std::size_t kBlocks = 256;
constexpr int kRounds = 21;

double MedianNs(const std::function<void()>& run) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / (kBlocks * kLanes));
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

AlignedVector<PointBlock> Cloud(const Vec3d& centre, const Vec3d& half) {
  AlignedVector<PointBlock> blocks(kBlocks);
  CounterRandom random(5);
  for (PointBlock& block : blocks) {
    // Neighbours on the skin lie near each other.
    const Vec3d at =
        centre + Vec3d{half.x * (2 * random.Next() - 1), half.y * (2 * random.Next() - 1),
                       half.z * (2 * random.Next() - 1)};
    for (std::size_t i = 0; i < kLanes; ++i) {
      block.x[i] = static_cast<float>(at.x + 0.2 * random.Next());
      block.y[i] = static_cast<float>(at.y + 0.2 * random.Next());
      block.z[i] = static_cast<float>(at.z + 0.2 * random.Next());
    }
  }
  return blocks;
}

void KernelByLevel() {
  constexpr std::size_t kCentres = 52;
  AlignedVector<float> centres(kCentres * kCentreFloats);
  CounterRandom random(1);
  for (float& v : centres) v = static_cast<float>(2 * random.Next() - 1);
  AlignedVector<float> polynomial(kPolynomialFloats, 0.5f);
  AlignedVector<float> placed(kPlacedFloats);
  placed[0] = placed[4] = placed[8] = 1;
  for (const std::size_t box : {std::size_t{16}, std::size_t{22}}) {
    for (std::size_t i = 0; i < 6; ++i) placed[box + i] = i < 3 ? -9.0f : 9.0f;
  }
  const AlignedVector<float> reach(kLanes, 1);
  const auto points = Cloud({}, {2, 2, 2});
  for (const Isa isa : SupportedIsas()) {
    if (!ForceIsa(isa).ok()) continue;
    FieldBlock out;
    const double ns = MedianNs([&] {
      for (const PointBlock& block : points) {
        HrbfKernel({centres.data(), polynomial.data(), kCentres, placed.data(), nullptr}, block.x,
                   reach.data(), out.value);
      }
    });
    std::printf("52 centres, value and gradient   %-8s %7.1f ns a point\n",
                std::string(IsaName(isa)).c_str(), ns);
  }
  static_cast<void>(ForceIsa(Isa::kAuto));
}

void WholeLimb() {
  const Rig rig = testing::CanonicalLimb();
  const auto points = Cloud({0, 0.5, 0}, {3, 1.5, 1});
  const LimbField field = testing::BindField(rig);
  testing::FieldInPose bent(field, testing::BendPose(rig, 90));
  for (const Contact contact : {Contact::kCrease, Contact::kSurface}) {
    FieldBlock out;
    const double ns = MedianNs([&] {
      for (const PointBlock& block : points) (*bent).Evaluate(block, contact, out);
    });
    std::printf("both parts near the joint        %-20s %7.1f ns a point\n",
                contact == Contact::kCrease ? "crease" : "contact surface", ns);
  }
}

void ManyParts() {
  const Rig rig = testing::TubeRig({.rings = 601, .joints = 60, .length = 60, .radius = 0.5});
  const auto start = std::chrono::steady_clock::now();
  const LimbField field = testing::BindField(rig);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("bind of %zu parts, %zu vertices: %.2f s, %.1f KB\n", field.parts(), rig.vertices(),
              took.count(), static_cast<double>(FieldBytes(field)) / 1024);
  testing::FieldInPose posed(field, testing::RestPose(rig));
  const auto points = Cloud({0, 0, 0}, {29, 0.5, 0.5});
  FieldBlock out;
  const double culled = MedianNs([&] {
    for (const PointBlock& block : points) (*posed).Evaluate(block, Contact::kCrease, out);
  });
  const double placing =
      MedianNs([&] { testing::FieldInPose again(field, testing::RestPose(rig)); });
  std::printf("60 parts in a chain               %.1f ns a point; placing a frame %.1f us\n",
              culled, placing * kBlocks * kLanes / 1000);
}

}  // namespace
}  // namespace sinew

int main() {
  const sinew::DenormalGuard guard;
  sinew::KernelByLevel();
  sinew::WholeLimb();
  sinew::ManyParts();
}
