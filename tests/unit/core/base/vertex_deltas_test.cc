// The steps of COMPRESSION_ZSTD against numbers worked out by hand, and back.
#include "core/base/vertex_deltas.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random.h"

namespace sinew {
namespace {

template <class Number>
std::vector<std::uint8_t> Planes(const std::vector<Number>& numbers,
                                 const std::vector<Number>& base, std::size_t each) {
  std::vector<std::uint8_t> planes(numbers.size() * sizeof(Number));
  ToPlanes<Number>(numbers, base, each, reinterpret_cast<std::byte*>(planes.data()));
  return planes;
}

TEST(VertexDeltas, PlanesOfThreeVertices) {
  using Bytes = std::vector<std::uint8_t>;
  // x 5, 3, 259; y 0, 65535, 0: differences 5, -2, 256 and 0, -1, 1; zig-zag 10, 3, 512 and 0,
  // 1, 2.
  const std::vector<std::uint16_t> numbers = {5, 0, 3, 65535, 259, 0};
  EXPECT_EQ(Planes<std::uint16_t>(numbers, {}, 2), (Bytes{10, 3, 0, 0, 0, 2, 0, 1, 2, 0, 0, 0}));
  // Less the base 5, 2, 255 and 0, 65535, 65535: 0, 1, 4 and 0, 0, 1; 0, 1, 3 and 0, 0, 1.
  EXPECT_EQ(Planes<std::uint16_t>(numbers, {5, 0, 2, 65535, 255, 65535}, 2),
            (Bytes{0, 2, 6, 0, 0, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(Planes<std::uint8_t>({127, 128, 0}, {}, 1), (Bytes{254, 2, 255}));
}

template <class Number>
void ExpectRoundTrip() {
  testing::Random random(3);
  const auto pick = [&] {
    return static_cast<Number>(random.Below(1 << 24) * 321u + random.Below(1 << 24));
  };
  for (const std::size_t each : {1, 2, 3, 4}) {
    for (const std::size_t vertices : {1, 2, 15, 1023, 1025, 5000}) {
      std::vector<Number> numbers(vertices * each), base(vertices * each), back(vertices * each);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = pick();
        base[i] = pick();
      }
      for (const std::vector<Number>& of : {std::vector<Number>(), base}) {
        const std::vector<std::uint8_t> planes = Planes<Number>(numbers, of, each);
        FromPlanes<Number>(reinterpret_cast<const std::byte*>(planes.data()), of, each, back);
        ASSERT_EQ(back, numbers) << each << " x " << vertices;
      }
    }
  }
}

TEST(VertexDeltas, AnyNumbersComeBack) {
  ExpectRoundTrip<std::uint8_t>();
  ExpectRoundTrip<std::uint16_t>();
  ExpectRoundTrip<std::uint32_t>();
}

TEST(VertexDeltas, RequantisesIntoAnotherBox) {
  const Q16Box from = {{0, 10, -5}, {1, 0.5f, 2}}, to = {{1, 10, 0}, {2, 0.25f, 0.001f}};
  // Positions 0 10 -5 are below the box, 4 60 5: 1.5 is nearest to 2, the even one; 70000 too high.
  const std::vector<std::uint16_t> q = {0, 0, 0, 4, 100, 5, 6, 1, 38};
  std::vector<std::uint16_t> out(q.size());
  Requantise(q, from, to, out);
  EXPECT_EQ(out, (std::vector<std::uint16_t>{0, 0, 0, 2, 200, 5000, 2, 2, 65535}));
}

}  // namespace
}  // namespace sinew
