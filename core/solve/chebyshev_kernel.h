// chebyshev_kernel.h - one step of the recurrence of chebyshev.h for a range of rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Rows hold `columns` numbers, 4 or 12, each row aligned to 32 bytes.
struct ChebyshevStep {
  const std::uint64_t* offsets;     // [rows + 1] into neighbours
  const std::uint32_t* neighbours;  // rows
  const double* weights;            // per neighbour; `even`: per row
  bool even;
  std::size_t columns;
  double* current;
  double* previous;
  double* sum;
  double a = 1, b = 0;
  const double* c[3] = {};  // [3][columns]; or null: sum stays
};

// Rows [begin, end): next = a N current - b previous, sum += c[0] previous + c[1] current + c[2]
// next, previous = next. Products are rounded before they are added, in the order of the
// neighbours, and the three terms one after the other.
void ChebyshevKernel(const ChebyshevStep& step, std::size_t begin, std::size_t end);

}  // namespace sinew
