// frames.cc - replies of a server as the client library reads them: any bytes, in slices of any
// size.
#include <grpcpp/support/byte_buffer.h>

#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/frame_parser.h"
#include "sinew/frame.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;
using namespace sinew::client;

// Vertex data that the view says it has is copied whole, or refused.
void CopyAll(const FrameView& view) {
  const auto positions = view.Positions();
  if (!positions.ok()) return;
  fuzz::Require(view.vertices() * 6 <= view.bytes(Attribute::kPositions).size(),
                "no more vertices than bytes");
  std::vector<float> values(view.vertices() * 4);
  const std::span<float> points = std::span(values).first(view.vertices() * 3);
  (void)view.CopyNormals(points);
  (void)view.CopyTangents(values);
  std::vector<VertexStatus> status(view.vertices());
  (void)view.CopyVertexStatus(status);
}

}  // namespace

// The first byte is the size of the slices.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0];
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 1; at < size; at += step) {
    slices.emplace_back(data + at, std::min(step, size - at));
  }
  const grpc::ByteBuffer buffer(slices.data(), slices.size());
  auto bytes = MessageBytes::From(buffer);
  if (!bytes.ok()) return 0;
  auto reply = ParseReply<v1::StreamDeformResponse>(*std::move(bytes));
  if (!reply.ok()) return 0;
  for (const bool verify : {false, true}) {
    FrameAssembler assembler(verify, 1 << 20);
    for (FrameChunk chunk : reply->chunks) {
      const auto frame = assembler.Add(std::move(chunk));
      if (!frame.ok()) break;
      if (*frame != nullptr) CopyAll(FrameView(*frame));
    }
  }
  return 0;
}
