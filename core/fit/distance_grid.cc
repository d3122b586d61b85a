#include "core/fit/distance_grid.h"

#include <cmath>
#include <limits>

namespace sinew::fit {
namespace {

constexpr std::int32_t kFar = 1 << 28;  // squared distance of a cell without a source
constexpr std::size_t kLines = 64;      // lines per chunk

// One line of cells: the lower envelope of the parabolas at its cells.
class Envelope {
 public:
  explicit Envelope(std::size_t longest)
      : height_(longest), source_(longest), at_(longest), from_(longest + 1) {}

  void Run(std::int32_t* squared, std::uint32_t* source, std::size_t count, std::size_t step) {
    std::size_t used = 0;
    for (std::size_t q = 0; q < count; ++q) {
      height_[q] = squared[q * step];
      source_[q] = source[q * step];
      if (height_[q] >= kFar) continue;
      double begin = -std::numeric_limits<double>::infinity();
      while (used > 0) {
        begin = Meet(at_[used - 1], q);
        if (begin > from_[used - 1]) break;
        --used;
        begin = -std::numeric_limits<double>::infinity();
      }
      at_[used] = q;
      from_[used++] = begin;
    }
    if (used == 0) return;
    std::size_t k = 0;
    for (std::size_t q = 0; q < count; ++q) {
      while (k + 1 < used && from_[k + 1] < static_cast<double>(q)) ++k;
      const auto apart = static_cast<std::int32_t>(q) - static_cast<std::int32_t>(at_[k]);
      squared[q * step] = height_[at_[k]] + apart * apart;
      source[q * step] = source_[at_[k]];
    }
  }

 private:
  // Where the parabolas at a < b cross.
  double Meet(std::size_t a, std::size_t b) const {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return ((height_[b] + y * y) - (height_[a] + x * x)) / (2 * (y - x));
  }
  std::vector<std::int32_t> height_;
  std::vector<std::uint32_t> source_;
  std::vector<std::size_t> at_;  // parabolas of the envelope
  std::vector<double> from_;     // where each begins to be the lowest
};

}  // namespace

NearestCells FindNearest(const std::array<std::int32_t, 3>& cells,
                         const std::vector<std::uint8_t>& source, const Task& task) {
  const std::size_t n = source.size();
  const std::array<std::size_t, 3> size = {static_cast<std::size_t>(cells[0]),
                                           static_cast<std::size_t>(cells[1]),
                                           static_cast<std::size_t>(cells[2])};
  const std::array<std::size_t, 3> step = {1, size[0], size[0] * size[1]};
  std::vector<std::int32_t> squared(n);
  NearestCells nearest;
  nearest.source.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    squared[c] = source[c] != 0 ? 0 : kFar;
    nearest.source[c] = static_cast<std::uint32_t>(c);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t lines = n / size[axis];
    task.For(lines, kLines, [&](std::size_t begin, std::size_t end) {
      Envelope envelope(size[axis]);
      for (std::size_t line = begin; line < end; ++line) {
        // The line's place within its slab, and the slab.
        const std::size_t first = line % step[axis] + line / step[axis] * step[axis] * size[axis];
        envelope.Run(&squared[first], &nearest.source[first], size[axis], step[axis]);
      }
    });
  }
  nearest.distance.resize(n);
  for (std::size_t c = 0; c < n; ++c)
    nearest.distance[c] = std::sqrt(static_cast<float>(squared[c]));
  return nearest;
}

}  // namespace sinew::fit
