// metrics.h - figures of deformed frames to protobuf.
#pragma once

#include "core/metrics/meter.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

// Frame number and evaluation time are the caller's to add.
v1::FrameMetrics ToProto(const metrics::FrameMetrics& figures);

}  // namespace sinew::server
