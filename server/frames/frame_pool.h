// frame_pool.h - memory that frames are evaluated into and sent from.
//
// Buffers are 64-byte aligned, reused by size class and shared between slices of gRPC messages. A
// slice gives its reference back on whatever thread gRPC drops it, also during and after shutdown:
// buffers keep the pool alive.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace sinew::server {

// A reference to one buffer; copies share it.
class FrameBuffer {
 public:
  FrameBuffer() = default;
  explicit FrameBuffer(std::shared_ptr<std::byte> memory) : memory_(std::move(memory)) {}

  std::byte* data() const { return memory_.get(); }
  // Bytes [offset, offset + size), holding a reference of its own until gRPC lets go.
  grpc::Slice MakeSlice(std::size_t offset, std::size_t size) const;

 private:
  std::shared_ptr<std::byte> memory_;
};

class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  // kept: idle bytes that are not given back to the system.
  static std::shared_ptr<FramePool> Create(std::uint64_t kept);

  // A buffer of at least `bytes`; contents undefined.
  FrameBuffer Acquire(std::size_t bytes);

  // Gives idle buffers back.
  void Trim();

  std::uint64_t idle_bytes() const;

 private:
  struct Delete {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Delete>;
  explicit FramePool(std::uint64_t kept) : kept_(kept) {}
  Memory TakeIdle(std::size_t capacity);
  void Keep(std::size_t capacity, Memory memory);

  const std::uint64_t kept_;
  mutable absl::Mutex mutex_;
  std::uint64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::size_t, std::vector<Memory>> idle_ ABSL_GUARDED_BY(mutex_);  // by capacity
};

}  // namespace sinew::server
