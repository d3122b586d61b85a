// frame_items.h - merges the frames and problems of one reply in the order of their poses.
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

// Called with a complete frame, or with null and the error of pose `frame`.
using ItemSink = absl::FunctionRef<absl::Status(std::uint64_t frame, absl::Status problem,
                                                std::shared_ptr<FrameData> data)>;

// Adds the chunks to `assembler` and calls `sink` for each complete frame and each problem, by
// rising frame number. Returns the first error of FrameAssembler::Add or `sink`.
absl::Status ForEachItem(std::vector<FrameChunk> chunks,
                         const google::protobuf::RepeatedPtrField<v1::FrameProblem>& problems,
                         FrameAssembler& assembler, ItemSink sink);

}  // namespace sinew::client
