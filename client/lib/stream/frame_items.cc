#include "client/lib/stream/frame_items.h"

#include <limits>
#include <utility>

#include "client/lib/codec/status_codec.h"
#include "core/base/status.h"

namespace sinew::client {

absl::Status ForEachItem(std::vector<FrameChunk> chunks,
                         const google::protobuf::RepeatedPtrField<v1::FrameProblem>& problems,
                         FrameAssembler& assembler, ItemSink sink) {
  auto problem = problems.begin();
  const auto report_below = [&](std::uint64_t frame) -> absl::Status {
    for (; problem != problems.end() && problem->frame() < frame; ++problem) {
      SINEW_RETURN_IF_ERROR(sink(problem->frame(), ToStatus(problem->problem()), nullptr));
    }
    return absl::OkStatus();
  };
  for (FrameChunk& chunk : chunks) {
    SINEW_RETURN_IF_ERROR(report_below(chunk.header.frame()));
    SINEW_ASSIGN_OR_RETURN(std::shared_ptr<FrameData> frame, assembler.Add(std::move(chunk)));
    if (frame == nullptr) continue;
    const std::uint64_t number = frame->frame;
    SINEW_RETURN_IF_ERROR(sink(number, absl::OkStatus(), std::move(frame)));
  }
  return report_below(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace sinew::client
