#include "core/deform/engine/encoding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/deform/kernels/encode_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 512;  // packs of 16 vertices per chunk
// Smaller steps would be denormal, or have an infinite inverse.
constexpr double kLeastStep = 0x1p-100;

// The least number of 8 significant bits that is not below `step`.
float RoundUp(double step) {
  int exponent;
  const double mantissa = std::frexp(std::max(step, kLeastStep), &exponent);
  return static_cast<float>(std::ldexp(std::ceil(std::ldexp(mantissa, 8)), exponent - 8));
}

// Calls encode(first pack, packs, out) for all packs; the last may be partly filled.
template <class EncodePacks>
void ForPacks(std::span<std::byte> out, std::size_t each, const Task& task, EncodePacks&& encode) {
  const std::size_t vertices = out.size() / each, whole = vertices / 16, rest = vertices % 16;
  task.For(whole, kGrain, [&](std::size_t begin, std::size_t end) {
    encode(begin, end - begin, out.data() + begin * 16 * each);
  });
  if (rest == 0) return;
  alignas(64) std::byte last[16 * 6];
  encode(whole, 1, last);
  std::memcpy(out.data() + whole * 16 * each, last, rest * each);
}

}  // namespace

Quantisation QuantisationOf(const std::array<float, 6>& bounds) {
  Quantisation quantisation;
  for (std::size_t c = 0; c < 3; ++c) {
    quantisation.origin[c] = bounds[c];
    quantisation.step[c] = RoundUp((double{bounds[c + 3]} - double{bounds[c]}) / 65535);
  }
  return quantisation;
}

void EncodePositions(std::span<const float> points, const Quantisation& quantisation,
                     std::span<std::byte> out, const Task& task) {
  std::array<float, 3> inverse;
  for (std::size_t c = 0; c < 3; ++c) inverse[c] = 1 / quantisation.step[c];
  ForPacks(out, 6, task, [&](std::size_t first, std::size_t packs, std::byte* to) {
    EncodeQ16Kernel(points.data() + first * 48, quantisation.origin.data(), inverse.data(), packs,
                    reinterpret_cast<std::uint16_t*>(to));
  });
}

void EncodeNormals(std::span<const float> normals, Encoding encoding, std::span<std::byte> out,
                   const Task& task) {
  const std::size_t each = EncodedBytes(encoding);
  ForPacks(out, each, task, [&](std::size_t first, std::size_t packs, std::byte* to) {
    EncodeOctKernel(normals.data() + first * 48, packs, each == 2 ? 8 : 16,
                    reinterpret_cast<std::uint8_t*>(to));
  });
}

}  // namespace sinew
