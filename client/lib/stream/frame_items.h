// frame_items.h - the frames and problems of one reply in the order of their poses.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <memory>
#include <vector>

#include "client/lib/stream/frame_assembler.h"
#include "client/lib/stream/frame_parser.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::client {

// Called with a complete frame, or with null and the reason why pose `frame` has none.
using ItemSink = absl::FunctionRef<absl::Status(std::uint64_t frame, absl::Status problem,
                                                std::shared_ptr<FrameData> data)>;

// Feeds the chunks to `assembler` and hands over what is complete; the two lists of a reply are
// merged by number. Errors of FrameAssembler::Add and of `sink`, which end it.
absl::Status ForEachItem(std::vector<FrameChunk> chunks,
                         const google::protobuf::RepeatedPtrField<v1::FrameProblem>& problems,
                         FrameAssembler& assembler, ItemSink sink);

}  // namespace sinew::client
