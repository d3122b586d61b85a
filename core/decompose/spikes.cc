#include "core/decompose/spikes.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/vectors.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kPointGrain = 64;
constexpr double kSpike = 10;            // over the distance in other frames
constexpr double kLeastSpike = 0.005;    // of the diagonal
constexpr double kOverNeighbours = 1.5;  // of a spike, over distances of neighbours

struct Spike {
  double apart = 0;   // in the frame with the largest distance
  double second = 0;  // in any other
  std::size_t frame = 0;
  std::uint32_t with = kNone;  // a neighbour that leaves the others, too

  bool IsLarge(double diagonal, double share) const {
    return apart >= share * std::max(kSpike * second, kLeastSpike * diagonal);
  }
};

// How far p is from the middle of its neighbours in a frame, but for p and q; 0 if there are no
// others.
double Apart(const Sequence& sequence, std::uint32_t p, std::size_t frame, std::uint32_t without_a,
             std::uint32_t without_b) {
  Vec3d middle;
  std::size_t count = 0;
  for (const std::uint32_t q : sequence.neighbours.row(p)) {
    if (q == without_a || q == without_b) continue;
    middle = middle + ToDouble(sequence.row(q)[frame]);
    ++count;
  }
  if (count == 0) return 0;
  return Length(ToDouble(sequence.row(p)[frame]) - (1 / static_cast<double>(count)) * middle);
}

Spike FindLargest(const Sequence& sequence, std::uint32_t p, std::uint32_t without) {
  Spike most{.with = without};
  for (std::size_t f = 0; f < sequence.frames; ++f) {
    const double now = Apart(sequence, p, f, without, without);
    most.second = std::max(most.second, std::min(now, most.apart));
    if (now <= most.apart) continue;
    most.apart = now;
    most.frame = f;
  }
  return most;
}

// Whether the neighbours of p, but for `with`, stay with theirs. The neighbour of a single spike is
// a part of the way from its own. Where a sheet folds or tears, neighbours are as far.
bool StandsOut(const Sequence& sequence, std::uint32_t p, const Spike& spike) {
  return std::ranges::all_of(sequence.neighbours.row(p), [&](std::uint32_t q) {
    if (q == spike.with) return true;
    const std::uint32_t a = spike.with == kNone ? kNone : p;
    return spike.apart >= kOverNeighbours * Apart(sequence, q, spike.frame, a, spike.with);
  });
}

}  // namespace

std::optional<Problem> FindSpikes(const Sequence& sequence, const Task& task) {
  if (sequence.frames < 3) return std::nullopt;
  const auto points = static_cast<std::uint32_t>(sequence.points());
  std::vector<Spike> alone(points), spikes(points);
  task.For(points, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
      alone[p] = FindLargest(sequence, p, kNone);
      if (alone[p].IsLarge(sequence.diagonal, 1) && StandsOut(sequence, p, alone[p])) {
        spikes[p] = alone[p];
      }
    }
  });
  // A neighbour that leaves the others, too, draws their middle along by half at most.
  const auto may_be_two = [&](std::uint32_t p) { return alone[p].IsLarge(sequence.diagonal, 0.5); };
  std::vector<Spike> pairs(points);
  task.For(points, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
      if (!may_be_two(p)) continue;
      for (const std::uint32_t q : sequence.neighbours.row(p)) {
        if (!may_be_two(q) || alone[p].frame != alone[q].frame) continue;
        const Spike first = FindLargest(sequence, p, q), second = FindLargest(sequence, q, p);
        if (first.frame == second.frame && first.IsLarge(sequence.diagonal, 1) &&
            second.IsLarge(sequence.diagonal, 1) && StandsOut(sequence, p, first) &&
            StandsOut(sequence, q, second) && first.apart > pairs[p].apart) {
          pairs[p] = first;
        }
      }
    }
  });
  for (std::uint32_t p = 0; p < points; ++p) {
    if (pairs[p].apart > 0) spikes[p] = pairs[p];
  }
  const auto worst = std::ranges::max_element(spikes, {}, &Spike::apart);
  if (worst->apart == 0) return std::nullopt;
  const auto vertex = [&](std::uint32_t p) {
    return std::ranges::find(sequence.point, p) - sequence.point.begin();
  };
  const bool is_pair = worst->with != kNone;
  std::string who = absl::StrCat(" ", vertex(static_cast<std::uint32_t>(worst - spikes.begin())));
  if (is_pair) absl::StrAppend(&who, " and its neighbour ", vertex(worst->with));
  const auto others =
      std::ranges::count_if(spikes, [](const Spike& spike) { return spike.apart > 0; }) -
      (is_pair ? 2 : 1);
  std::string also;
  if (others > 0) also = absl::StrCat(", and so ", others == 1 ? "is " : "are ", others, " more");
  return Problem{
      Severity::kWarning, "frames",
      absl::StrFormat("in frame %d vertex%s %s %.3g units from the middle of %s neighbours, at "
                      "least %.0f times as far as in any other%s: is it right there?",
                      worst->frame, who, is_pair ? "are" : "is", worst->apart,
                      is_pair ? "their other" : "its", kSpike, also)};
}

}  // namespace sinew::decompose
