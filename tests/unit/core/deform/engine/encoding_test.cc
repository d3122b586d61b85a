// Encodings against decoders written here from the definitions.
#include "core/deform/engine/encoding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/vertex_deltas.h"
#include "core/simd/target.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

AlignedVector<float> Padded(const std::vector<Vec3f>& points) {
  AlignedVector<float> floats(PaddedFloats(points.size()), NAN);
  std::memcpy(floats.data(), points.data(), points.size() * sizeof(Vec3f));
  return floats;
}

std::array<float, 6> BoundsOf(const std::vector<Vec3f>& points) {
  std::array<float, 6> bounds = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (const Vec3f& p : points) {
    const float values[3] = {p.x, p.y, p.z};
    for (std::size_t c = 0; c < 3; ++c) {
      bounds[c] = std::min(bounds[c], values[c]);
      bounds[c + 3] = std::max(bounds[c + 3], values[c]);
    }
  }
  return bounds;
}

std::vector<std::uint16_t> Encoded(const std::vector<Vec3f>& points, const Quantisation& q) {
  std::vector<std::uint16_t> words(points.size() * 3 + 1,
                                   0xabcd);  // one to see what is not written
  const AlignedVector<float> floats = Padded(points);
  EncodePositions(floats, q, std::as_writable_bytes(std::span(words).first(points.size() * 3)),
                  Task());
  EXPECT_EQ(words.back(), 0xabcd);
  words.pop_back();
  return words;
}

std::vector<Vec3f> RandomPoints(std::size_t count, const Vec3d& centre, const Vec3d& size) {
  testing::Random random(7);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(ToFloat(Vec3d{centre.x + size.x * (random.Next() - 0.5),
                                   centre.y + size.y * (random.Next() - 0.5),
                                   centre.z + size.z * (random.Next() - 0.5)}));
  }
  return points;
}

// Significant bits of a float.
int SignificantBits(float value) {
  return 24 - std::countr_zero((std::bit_cast<std::uint32_t>(value) & 0x7fffffu) | 0x800000u);
}

TEST(Encoding, PositionsAreWithinHalfStep) {
  for (const std::size_t count : {1, 15, 16, 17, 5000}) {
    for (const Vec3d& size : {Vec3d{1.8, 0.4, 170}, Vec3d{1e-4, 1e4, 0}, Vec3d{3e38, 1e-30, 1}}) {
      const Vec3d centre = size.x > 1e30 ? Vec3d{} : Vec3d{-3, 900, 0.1};
      const std::vector<Vec3f> points = RandomPoints(count, centre, size);
      const std::array<float, 6> bounds = BoundsOf(points);
      const Quantisation q = QuantisationOf(bounds);
      const std::vector<std::uint16_t> words = Encoded(points, q);
      for (std::size_t v = 0; v < count; ++v) {
        const float want[3] = {points[v].x, points[v].y, points[v].z};
        for (std::size_t c = 0; c < 3; ++c) {
          const float decoded = q.origin[c] + q.step[c] * static_cast<float>(words[v * 3 + c]);
          const double rounding =
              4e-7 * (std::abs(double{want[c]}) + std::abs(double{q.origin[c]}));
          ASSERT_NEAR(decoded, want[c], 0.5001 * double{q.step[c]} + rounding);
        }
      }
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_LE(SignificantBits(q.step[c]), 8);
        const double extent = double{bounds[c + 3]} - double{bounds[c]};
        EXPECT_GE(double{q.step[c]} * 65535, extent);
        EXPECT_LE(double{q.step[c]} * 65535, std::max(extent, 1e-24) * (1 + 1.0 / 127));
      }
    }
  }
}

// With a step of 8 significant bits a fused multiply-add changes nothing.
TEST(Encoding, DecodingDoesNotDependOnFusing) {
  const std::vector<Vec3f> points = RandomPoints(5000, {0.3, -7, 100}, {1.7, 0.3, 2});
  const Quantisation q = QuantisationOf(BoundsOf(points));
  for (std::size_t c = 0; c < 3; ++c) {
    for (int n = 0; n <= 65535; ++n) {
      const auto word = static_cast<float>(n);
      const volatile float product = q.step[c] * word;
      ASSERT_EQ(q.origin[c] + product, std::fma(q.step[c], word, q.origin[c]));
    }
  }
}

TEST(Encoding, FlatMeshHasItsCoordinate) {
  const std::vector<Vec3f> points = {{1, 2.5f, 3}, {4, 2.5f, 3}};
  const Quantisation q = QuantisationOf(BoundsOf(points));
  const std::vector<std::uint16_t> words = Encoded(points, q);
  EXPECT_EQ(q.origin[1] + q.step[1] * static_cast<float>(words[1]), 2.5f);
  EXPECT_EQ(words[4], 0);
}

template <class Number>
Vec3d Decoded(const Number* q) {
  constexpr double kScale = (1 << (sizeof(Number) * 8 - 1)) - 1;
  const double u = q[0] / kScale, v = q[1] / kScale, z = 1 - std::abs(u) - std::abs(v);
  const double below = std::max(0.0, -z);
  const Vec3d n = {u < 0 ? u + below : u - below, v < 0 ? v + below : v - below, z};
  return (1 / std::sqrt(Dot(n, n))) * n;
}

template <class Number>
double LargestDegrees(const std::vector<Vec3f>& normals, Encoding encoding) {
  std::vector<Number> numbers(normals.size() * 2);
  EncodeNormals(Padded(normals), encoding, std::as_writable_bytes(std::span(numbers)), Task());
  double largest = 0;
  for (std::size_t v = 0; v < normals.size(); ++v) {
    const Vec3d n = ToDouble(normals[v]), got = Decoded(&numbers[v * 2]), c = Cross(n, got);
    largest = std::max(largest, std::atan2(std::sqrt(Dot(c, c)), Dot(n, got)));
  }
  return largest * 180 / std::numbers::pi;
}

std::vector<Vec3f> Directions() {
  testing::Random random(3);
  std::vector<Vec3f> normals;
  for (const float x : {-1.0f, 0.0f, 1.0f}) {
    for (const float y : {-1.0f, 0.0f, 1.0f}) {
      for (const float z : {-1.0f, 0.0f, 1.0f}) {
        const float length = std::sqrt(x * x + y * y + z * z);
        if (length > 0) normals.push_back({x / length, y / length, z / length});
      }
    }
  }
  while (normals.size() < 100'001) {
    const Vec3d v = {random.Next() - 0.5, random.Next() - 0.5, random.Next() - 0.5};
    if (Dot(v, v) > 1e-3) normals.push_back(ToFloat((1 / std::sqrt(Dot(v, v))) * v));
  }
  return normals;
}

TEST(Encoding, NormalsAreWithinOneDegree) {
  EXPECT_LT(LargestDegrees<std::int8_t>(Directions(), Encoding::kOct8), 0.95);
  EXPECT_LT(LargestDegrees<std::int16_t>(Directions(), Encoding::kOct16), 0.0038);
}

// A compressed frame predicts the positions of the frame before it as this quantiser would.
TEST(Encoding, RequantisedNumbersAreThoseOfDecodedPositions) {
  const std::vector<Vec3f> before = RandomPoints(1003, {1, 2, 300}, {5, 6, 7}),
                           after = RandomPoints(1003, {2, 2, 299}, {5, 9, 4});
  const Quantisation from = QuantisationOf(BoundsOf(before)), to = QuantisationOf(BoundsOf(after));
  const std::vector<std::uint16_t> q = Encoded(before, from);
  std::vector<Vec3f> decoded;
  for (std::size_t i = 0; i < q.size(); i += 3) {
    const auto at = [&](std::size_t c) {
      return from.origin[c] + from.step[c] * static_cast<float>(q[i + c]);
    };
    decoded.push_back({at(0), at(1), at(2)});
  }
  std::vector<std::uint16_t> moved(q.size());
  Requantise(q, {from.origin, from.step}, {to.origin, to.step}, moved);
  EXPECT_EQ(moved, Encoded(decoded, to));
}

TEST(Encoding, EveryInstructionSetGivesSameBits) {
  const std::vector<Vec3f> points = RandomPoints(1003, {1, 2, 3}, {5, 6, 7}),
                           normals = Directions();
  std::vector<std::vector<std::byte>> all;
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    std::vector<std::byte> bytes(normals.size() * 6);
    const auto out = std::span(bytes);
    EncodeNormals(Padded(normals), Encoding::kOct8, out.first(normals.size() * 2), Task());
    EncodeNormals(Padded(normals), Encoding::kOct16, out.subspan(normals.size() * 2), Task());
    const std::vector<std::uint16_t> positions = Encoded(points, QuantisationOf(BoundsOf(points)));
    const auto words = std::as_bytes(std::span(positions));
    bytes.insert(bytes.end(), words.begin(), words.end());
    all.push_back(std::move(bytes));
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  for (const auto& bytes : all) EXPECT_EQ(bytes, all.front());
}

}  // namespace
}  // namespace sinew
