#include "server/frames/compression.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/base/aligned.h"

namespace sinew::server {
namespace {

constexpr int kLevel = 1;
constexpr int kKeyEvery = 64;

std::size_t Aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t MostZstd(std::span<const std::byte> bytes) {
  return ZSTD_compressBound(bytes.size());
}

// The size of the zstd frame.
std::size_t CompressZstd(std::span<const std::byte> in, std::span<std::byte> out) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  // About a megabyte: one for each thread instead of each call.
  static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (context == nullptr) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), in.data(), in.size(), kLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // its only reason: `out` is large enough
  return size;
}

template <class Number>
std::span<Number> NumbersOf(std::span<std::byte> bytes) {
  return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

// Bytes of a number of each attribute, and numbers of a vertex.
struct Form {
  std::size_t bytes, each;
};
std::array<Form, 4> FormsOf(const v1::Frame& header) {
  const auto bytes_of = [](v1::Encoding encoding) -> std::size_t {
    if (encoding == v1::ENCODING_OCT8) return 1;
    return encoding == v1::ENCODING_FLOAT32 ? 4 : 2;
  };
  const bool octahedral = header.normal_encoding() != v1::ENCODING_FLOAT32;
  return {{{bytes_of(header.encoding()), 3},
           {bytes_of(header.normal_encoding()), octahedral ? std::size_t{2} : 3},
           {4, 4},
           {1, 1}}};
}

Q16Box BoxOf(const v1::Frame& header) {
  Q16Box box{};
  std::copy(header.quantisation().origin().begin(), header.quantisation().origin().end(),
            box.origin.begin());
  std::copy(header.quantisation().step().begin(), header.quantisation().step().end(),
            box.step.begin());
  return box;
}

}  // namespace

void Compressor::Compress(OutgoingFrame& frame) {
  v1::Frame& header = frame.header;
  header.set_compression(v1::COMPRESSION_ZSTD);
  Sent sent;
  sent.box = BoxOf(header);
  sent.frame = header.frame();
  std::size_t largest = 0, most = 0;
  for (std::size_t k = 0; k < frame.pieces(); ++k) {
    for (const std::span<std::byte> bulk : sent.pieces.emplace_back(frame.piece(k))) {
      largest = std::max(largest, bulk.size());
      most += MostZstd(bulk);
    }
  }
  const bool key = base_.frame == 0 || since_key_ == kKeyEvery;
  since_key_ = key ? 1 : since_key_ + 1;
  if (!key) header.set_base_frame(base_.frame);

  const std::size_t area = Aligned(largest);
  const FrameBuffer scratch = pool_.Acquire(2 * area + most);
  std::byte* end = scratch.data() + 2 * area;  // of what is compressed
  std::vector<std::array<std::size_t, 4>> sizes(sent.pieces.size());
  const std::array<Form, 4> forms = FormsOf(header);
  for (std::size_t k = 0; k < sent.pieces.size(); ++k) {
    for (std::size_t a = 0; a < forms.size(); ++a) {
      const std::span<std::byte> bulk = sent.pieces[k][a];
      if (bulk.empty()) continue;
      const auto scratch_area = [&](std::size_t n) {
        return std::span(scratch.data() + n * area, bulk.size());
      };
      WithNumber(forms[a].bytes, [&]<class Number>(Number) {
        std::span<const Number> base;
        if (!key) base = NumbersOf<Number>(base_.pieces[k][a]);
        if constexpr (sizeof(Number) == 2) {
          if (a == 0 && !key) {
            const std::span<Number> moved = NumbersOf<Number>(scratch_area(0));
            Requantise(base, base_.box, sent.box, moved);
            base = moved;
          }
        }
        ToPlanes<Number>(NumbersOf<Number>(bulk), base, forms[a].each, scratch_area(1).data());
      });
      sizes[k][a] = CompressZstd(scratch_area(1), {end, MostZstd(bulk)});
      end += sizes[k][a];
    }
  }

  const std::byte* from = scratch.data() + 2 * area;
  const auto total = static_cast<std::size_t>(end - from);
  FrameBuffer buffer = pool_.Acquire(total + sent.pieces.size() * kHeadRoom);
  std::vector<Bulk> compressed(sent.pieces.size());
  std::byte* to = buffer.data();
  for (std::size_t k = 0; k < sent.pieces.size(); ++k) {
    to += kHeadRoom;
    for (std::size_t a = 0; a < forms.size(); ++a) {
      compressed[k][a] = {to, sizes[k][a]};
      std::memcpy(to, from, sizes[k][a]);
      to += sizes[k][a];
      from += sizes[k][a];
    }
  }
  sent.buffer = frame.Replace(std::move(buffer), std::move(compressed));
  if (deltas_) base_ = std::move(sent);
}

std::size_t Compressor::Bytes(const Output& output, std::uint32_t vertices, std::size_t frames) {
  // A little more than the frame itself, if it cannot be compressed; raw: the frame and its base.
  const std::size_t raw = OutgoingFrame::BufferBytes(output, vertices);
  const std::size_t most = raw + raw / 128 + kHeadRoom * (1 + vertices / output.ChunkVertices());
  const std::size_t piece = output.BytesPerVertex() * std::min(vertices, output.ChunkVertices());
  return (frames + 1) * most + 2 * raw + 2 * piece;
}

}  // namespace sinew::server
