#include "server/frames/frame_pool.h"

#include <bit>
#include <new>

#include "core/base/aligned.h"

namespace sinew::server {
namespace {

// Four classes an octave, from 4 KiB: at most a fifth is left unused.
std::size_t ClassOf(std::size_t bytes) {
  constexpr std::size_t kLeast = 4096;
  if (bytes <= kLeast) return kLeast;
  const std::size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

grpc::Slice FrameBuffer::MakeSlice(std::size_t offset, std::size_t size) const {
  return grpc::Slice(
      data() + offset, size, [](void* held) { delete static_cast<FrameBuffer*>(held); },
      new FrameBuffer(*this));
}

void FramePool::Delete::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t(kAlignment));
}

std::shared_ptr<FramePool> FramePool::Create(std::uint64_t kept) {
  return std::shared_ptr<FramePool>(new FramePool(kept));
}

FrameBuffer FramePool::Acquire(std::size_t bytes) {
  const std::size_t capacity = ClassOf(bytes);
  Memory memory = TakeIdle(capacity);
  if (memory == nullptr) {
    memory.reset(static_cast<std::byte*>(::operator new(capacity, std::align_val_t(kAlignment))));
  }
  return FrameBuffer({memory.release(), [pool = shared_from_this(), capacity](std::byte* released) {
                        pool->Keep(capacity, Memory(released));
                      }});
}

FramePool::Memory FramePool::TakeIdle(std::size_t capacity) {
  const absl::MutexLock lock(&mutex_);
  const auto found = idle_.find(capacity);
  if (found == idle_.end() || found->second.empty()) return nullptr;
  Memory memory = std::move(found->second.back());
  found->second.pop_back();
  idle_bytes_ -= capacity;
  return memory;
}

void FramePool::Keep(std::size_t capacity, Memory memory) {
  const absl::MutexLock lock(&mutex_);
  if (idle_bytes_ + capacity > kept_) return;
  idle_[capacity].push_back(std::move(memory));
  idle_bytes_ += capacity;
}

void FramePool::Trim() {
  std::map<std::size_t, std::vector<Memory>> idle;
  const absl::MutexLock lock(&mutex_);
  idle_.swap(idle);
  idle_bytes_ = 0;
}

std::uint64_t FramePool::idle_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return idle_bytes_;
}

}  // namespace sinew::server
