// frame_pool.h - memory that frames are evaluated into and sent from.
//
// Buffers are 64-byte aligned, reused by size class and shared by reference count between slices of
// gRPC messages. A slice gives its reference back on whatever thread gRPC drops it, also during and
// after shutdown: buffers keep the pool alive. What calls may hold together is bounded by
// reservations, taken when a call starts.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sinew::server {

class FramePool;

// A reference to one buffer; copies share it. Empty after default construction and move.
class FrameBuffer {
 public:
  FrameBuffer() = default;
  FrameBuffer(const FrameBuffer& other);
  FrameBuffer(FrameBuffer&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  FrameBuffer& operator=(FrameBuffer other) noexcept;
  ~FrameBuffer();

  std::byte* data() const;
  // Bytes [offset, offset + size), holding a reference of its own until gRPC lets go.
  grpc::Slice MakeSlice(std::size_t offset, std::size_t size) const;

 private:
  friend class FramePool;
  struct Block;
  explicit FrameBuffer(Block* block) : block_(block) {}
  static void Unref(Block* block);
  Block* block_ = nullptr;
};

class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  // limit: of all reservations; kept: idle bytes that are not given back to the system; subject,
  // option: what a refused reservation names.
  static std::shared_ptr<FramePool> Create(std::uint64_t limit, std::uint64_t kept,
                                           std::string_view subject = "frames",
                                           std::string_view option = "max-frame-bytes");
  ~FramePool();

  // What a call may hold; given back with the object.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(std::shared_ptr<FramePool> pool, std::uint64_t bytes)
        : pool_(std::move(pool)), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept = default;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation() { Return(); }

   private:
    void Return();
    std::shared_ptr<FramePool> pool_;
    std::uint64_t bytes_ = 0;
  };
  // kResourceExhausted: more than the limit would be reserved.
  absl::StatusOr<Reservation> Reserve(std::uint64_t bytes);

  // A buffer of at least `bytes`; contents undefined.
  FrameBuffer Acquire(std::size_t bytes);

  std::uint64_t idle_bytes() const;

 private:
  friend class FrameBuffer;
  FramePool(std::uint64_t limit, std::uint64_t kept, std::string_view subject,
            std::string_view option)
      : limit_(limit), kept_(kept), subject_(subject), option_(option) {}
  void Take(FrameBuffer::Block* block);

  const std::uint64_t limit_, kept_;
  const std::string_view subject_, option_;
  mutable absl::Mutex mutex_;
  std::uint64_t reserved_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::size_t, std::vector<FrameBuffer::Block*>> idle_
      ABSL_GUARDED_BY(mutex_);  // by capacity
};

}  // namespace sinew::server
