// requests.h - every request message of the services, for targets whose first byte selects one. The
// corpora depend on the order.
#pragma once

#include <google/protobuf/message.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/info_service.pb.h"
#include "sinew/v1/rig_service.pb.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::fuzz {

struct RequestType {
  const google::protobuf::Message* empty;
  const char* method;
};

inline const RequestType& RequestTypeOf(std::uint8_t selector) {
  static const std::array<RequestType, 20> types = {{
      {&v1::DeformRequest::default_instance(), "DeformService/Deform"},
      {&v1::StreamDeformRequest::default_instance(), "DeformService/StreamDeform"},
      {&v1::DeformClipRequest::default_instance(), "DeformService/DeformClip"},
      {&v1::CompareDeformersRequest::default_instance(), "DeformService/CompareDeformers"},
      {&v1::CreateSessionRequest::default_instance(), "SessionService/CreateSession"},
      {&v1::ComputeWeightsRequest::default_instance(), "RigService/ComputeWeights"},
      {&v1::UploadRigRequest::default_instance(), "RigService/UploadRig"},
      {&v1::WatchSessionRequest::default_instance(), "SessionService/WatchSession"},
      {&v1::GetSessionRequest::default_instance(), "SessionService/GetSession"},
      {&v1::ListSessionsRequest::default_instance(), "SessionService/ListSessions"},
      {&v1::RenewSessionRequest::default_instance(), "SessionService/RenewSession"},
      {&v1::DeleteSessionRequest::default_instance(), "SessionService/DeleteSession"},
      {&v1::GetRigRequest::default_instance(), "RigService/GetRig"},
      {&v1::DownloadRigRequest::default_instance(), "RigService/DownloadRig"},
      {&v1::ListRigsRequest::default_instance(), "RigService/ListRigs"},
      {&v1::DeleteRigRequest::default_instance(), "RigService/DeleteRig"},
      {&v1::ListMethodsRequest::default_instance(), "InfoService/ListMethods"},
      {&v1::GetServerInfoRequest::default_instance(), "InfoService/GetServerInfo"},
      {&v1::WatchStreamRequest::default_instance(), "DeformService/WatchStream"},
      {&v1::FitSkeletonRequest::default_instance(), "RigService/FitSkeleton"},
  }};
  return types[selector % types.size()];
}

// Takes the selecting byte off `bytes`.
inline const RequestType& TakeRequestType(std::string_view& bytes) {
  const char selector = bytes.empty() ? '\0' : bytes.front();
  bytes.remove_prefix(bytes.empty() ? 0 : 1);
  return RequestTypeOf(static_cast<std::uint8_t>(selector));
}

}  // namespace sinew::fuzz
