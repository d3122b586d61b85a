// allocation_meter.h - current and peak bytes allocated by operator new in the whole program.
//
// Linking it replaces operator new and delete. Thread-safe.
#pragma once

#include <cstddef>

namespace sinew::testing {

// Resets the peak to the bytes currently allocated.
void StartPeak();
// Peak since StartPeak, beyond the bytes allocated then.
std::size_t Peak();
// Bytes allocated since StartPeak and not freed.
std::size_t Held();

// Peak bytes that `work` allocates beyond those allocated before.
template <class Work>
std::size_t PeakOf(Work work) {
  StartPeak();
  work();
  return Peak();
}

}  // namespace sinew::testing
