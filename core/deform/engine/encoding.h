// encoding.h - the encodings of a frame's vertex data, and where its normals come from.
//
// Decoding is part of the wire format (sinew/v1/frame.proto): float32 arithmetic in the order given
// there yields the same bits in every language.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/parallel/task.h"

namespace sinew {

// Numbers of sinew.v1.Encoding. kQ16 is for positions, kOct8 and kOct16 for normals.
enum class Encoding : std::uint8_t { kFloat32 = 1, kQ16 = 3, kOct8 = 4, kOct16 = 5 };

// Bytes of a vertex's position or normal.
constexpr std::size_t EncodedBytes(Encoding encoding) {
  switch (encoding) {
    case Encoding::kFloat32:
      return 12;
    case Encoding::kQ16:
      return 6;
    case Encoding::kOct8:
      return 2;
    case Encoding::kOct16:
      return 4;
  }
  return 0;
}

// How normals and tangents are computed: carried with the points through all stages (see
// core/surface/carried_normals.h) or from the faces of the posed mesh (core/surface/normals.h).
// Numbers of sinew.v1.NormalRule.
enum class NormalRule : std::uint8_t {
  kAuto = 0,  // carried if the deformer can
  kCarried = 1,
  kRecomputed = 2,
};

// kQ16: position = origin + step * q, q in [0, 65535].
struct Quantisation {
  std::array<float, 3> origin{}, step{};
};
// For positions within bounds (minimum x y z, maximum x y z), finite. The step is rounded up to 8
// significant bits, so that step * q is exact and the sum is rounded once; errors are at most half
// a step, 1 / 130,000 of the box's side, and the rounding of the coordinate and of the step.
Quantisation QuantisationOf(const std::array<float, 6>& bounds);

// Floats that EncodePositions and EncodeNormals read for so many vertices.
constexpr std::size_t PaddedFloats(std::size_t vertices) {
  return (vertices + 15) / 16 * 48;
}

//    points  [PaddedFloats(vertices)] x y z, 64-byte aligned; the padding is read and ignored
//    out     [vertices * 6]
void EncodePositions(std::span<const float> points, const Quantisation& quantisation,
                     std::span<std::byte> out, const Task& task);
//    encoding  kOct8 or kOct16
//    out       [vertices * EncodedBytes(encoding)]
void EncodeNormals(std::span<const float> normals, Encoding encoding, std::span<std::byte> out,
                   const Task& task);

}  // namespace sinew
