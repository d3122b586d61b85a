#include "server/frames/frame_pool.h"

#include <atomic>
#include <bit>
#include <new>
#include <utility>

#include "core/base/aligned.h"
#include "server/base/status.h"

namespace sinew::server {

struct FrameBuffer::Block {
  std::atomic<int> references{1};
  std::size_t capacity = 0;
  std::byte* data = nullptr;
  std::shared_ptr<FramePool> pool;  // empty while idle

  explicit Block(std::size_t bytes)
      : capacity(bytes),
        data(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kAlignment)))) {}
  ~Block() { ::operator delete(data, std::align_val_t(kAlignment)); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

namespace {

// Four classes an octave, from 4 KiB: at most a fifth is left unused.
std::size_t ClassOf(std::size_t bytes) {
  constexpr std::size_t kLeast = 4096;
  if (bytes <= kLeast) return kLeast;
  const std::size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

FrameBuffer::FrameBuffer(const FrameBuffer& other) : block_(other.block_) {
  if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
}

FrameBuffer& FrameBuffer::operator=(FrameBuffer other) noexcept {
  std::swap(block_, other.block_);
  return *this;
}

FrameBuffer::~FrameBuffer() {
  if (block_ != nullptr) Unref(block_);
}

void FrameBuffer::Unref(Block* block) {
  if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::shared_ptr<FramePool> pool = std::move(block->pool);
  pool->Take(block);
}

std::byte* FrameBuffer::data() const {
  return block_->data;
}

grpc::Slice FrameBuffer::MakeSlice(std::size_t offset, std::size_t size) const {
  block_->references.fetch_add(1, std::memory_order_relaxed);
  return grpc::Slice(
      block_->data + offset, size, [](void* block) { Unref(static_cast<Block*>(block)); }, block_);
}

std::shared_ptr<FramePool> FramePool::Create(std::uint64_t limit, std::uint64_t kept,
                                             std::string_view subject, std::string_view option) {
  return std::shared_ptr<FramePool>(new FramePool(limit, kept, subject, option));
}

FramePool::~FramePool() {
  for (auto& [capacity, blocks] : idle_) {
    for (FrameBuffer::Block* block : blocks) delete block;
  }
}

FramePool::Reservation& FramePool::Reservation::operator=(Reservation&& other) noexcept {
  Return();
  pool_ = std::move(other.pool_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void FramePool::Reservation::Return() {
  if (pool_ == nullptr) return;
  const absl::MutexLock lock(&pool_->mutex_);
  pool_->reserved_ -= bytes_;
  bytes_ = 0;
}

absl::StatusOr<FramePool::Reservation> FramePool::Reserve(std::uint64_t bytes) {
  const absl::MutexLock lock(&mutex_);
  if (bytes > limit_ || reserved_ > limit_ - bytes) {
    return WithRetry(LimitPassed(subject_, reserved_ + bytes, limit_, "bytes", option_),
                     absl::Seconds(1));
  }
  reserved_ += bytes;
  return Reservation(shared_from_this(), bytes);
}

FrameBuffer FramePool::Acquire(std::size_t bytes) {
  const std::size_t capacity = ClassOf(bytes);
  FrameBuffer::Block* block = nullptr;
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = idle_.find(capacity); found != idle_.end() && !found->second.empty()) {
      block = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= capacity;
    }
  }
  if (block == nullptr) {
    block = new FrameBuffer::Block(capacity);
  } else {
    block->references.store(1, std::memory_order_relaxed);
  }
  block->pool = shared_from_this();
  return FrameBuffer(block);
}

void FramePool::Take(FrameBuffer::Block* block) {
  {
    const absl::MutexLock lock(&mutex_);
    if (idle_bytes_ + block->capacity <= kept_) {
      idle_[block->capacity].push_back(block);
      idle_bytes_ += block->capacity;
      return;
    }
  }
  delete block;
}

std::uint64_t FramePool::idle_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return idle_bytes_;
}

}  // namespace sinew::server
