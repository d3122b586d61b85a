// allocation_meter.h - bytes that operator new holds, and their peak, of the whole program.
//
// Linking it replaces operator new and delete. Thread-safe.
#pragma once

#include <cstddef>

namespace sinew::testing {

// Forgets the peak so far; Peak then counts from what is held now.
void StartPeak();
// Most bytes held at a time since StartPeak, beyond what was held then.
std::size_t Peak();

// Most bytes that `work` holds beyond what was held before.
template <class Work>
std::size_t PeakOf(Work work) {
  StartPeak();
  work();
  return Peak();
}

}  // namespace sinew::testing
