#include "tests/support/allocation_meter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::ptrdiff_t> in_use{0}, peak{0}, at_start{0};

void* Count(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const auto bytes = static_cast<std::ptrdiff_t>(malloc_usable_size(block));
  const std::ptrdiff_t now = in_use.fetch_add(bytes) + bytes;
  for (std::ptrdiff_t seen = peak; now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return block;
}

void Discount(void* block) {
  in_use.fetch_sub(static_cast<std::ptrdiff_t>(malloc_usable_size(block)));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return Count(std::malloc(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  return Count(std::aligned_alloc(align, (bytes + align - 1) / align * align));
}
// std::stable_sort allocates with nothrow and frees with the delete above.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* block = std::malloc(bytes);
  return block == nullptr ? nullptr : Count(block);
}
void operator delete(void* block) noexcept {
  Discount(block);
}
void operator delete(void* block, std::size_t) noexcept {
  Discount(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  Discount(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  Discount(block);
}

namespace sinew::testing {

void StartPeak() {
  at_start = in_use.load();
  peak = at_start.load();
}

std::size_t Held() {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, in_use - at_start));
}

std::size_t Peak() {
  return static_cast<std::size_t>(peak - at_start);
}

}  // namespace sinew::testing
