#include "tests/fuzz/messages.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/parsing_memory.h"
#include "server/base/status.h"
#include "server/convert/field_count.h"
#include "tests/fuzz/fuzz.h"

namespace sinew::fuzz {

void RequireClientError(const absl::Status& status) {
  RequireRefusal(status,
                 {absl::StatusCode::kInvalidArgument, absl::StatusCode::kResourceExhausted});
  const grpc::Status sent = server::ToGrpc(server::WithDetails(status));
  constexpr std::size_t kTrailerBytes = 8 << 10;  // gRPC's default limit
  Require(sent.error_message().size() + sent.error_details().size() < kTrailerBytes,
          "an error that fits the trailers of a reply");
  google::rpc::Status details;
  Require(details.ParseFromString(sent.error_details()), "details in UTF-8");
  for (const auto& any : details.details()) {
    google::rpc::BadRequest fields;
    google::rpc::QuotaFailure quota;
    if (any.Is<google::rpc::BadRequest>()) Require(any.UnpackTo(&fields), "a field in UTF-8");
    if (any.Is<google::rpc::QuotaFailure>()) Require(any.UnpackTo(&quota), "a limit in UTF-8");
  }
}

void RequireCounted(const google::protobuf::Message& message, std::string_view bytes) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const std::uint64_t fields = server::CountFields(*message.GetDescriptor(), stream,
                                                   std::numeric_limits<std::uint64_t>::max());
  const std::unique_ptr<google::protobuf::Message> empty(message.New());
  const std::uint64_t most =
      empty->SpaceUsedLong() + 2 * bytes.size() + fields * server::kBytesPerField;
  Require(message.SpaceUsedLong() <= most, "memory for " + std::to_string(fields) + " fields in " +
                                               std::to_string(bytes.size()) + " bytes, at most " +
                                               std::to_string(most) + ", got " +
                                               std::to_string(message.SpaceUsedLong()));
}

}  // namespace sinew::fuzz
