#include "sinew/client.h"

#include <utility>

#include "client/cpp/connection.h"
#include "client/cpp/message_codec.h"
#include "client/cpp/status_codec.h"
#include "client/cpp/status_macros.h"

namespace sinew::client {

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& call) const {
  v1::GetServerInfoResponse response;
  SINEW_RETURN_IF_ERROR(
      connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) {
        return FromGrpc(connection_->info().GetServerInfo(&context, {}, &response));
      }));
  return ToServerInfo(response);
}

absl::StatusOr<MethodList> Client::ListMethods(const CallOptions& call) const {
  MethodList list;
  v1::ListMethodsRequest request;
  do {
    v1::ListMethodsResponse response;
    SINEW_RETURN_IF_ERROR(
        connection_->Run(call, Repeat::kAttempts, [&](grpc::ClientContext& context) {
          return FromGrpc(connection_->info().ListMethods(&context, request, &response));
        }));
    for (const v1::Method& method : response.methods()) list.methods.push_back(ToMethod(method));
    for (const v1::Preset& preset : response.presets()) list.presets.push_back(ToPreset(preset));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return list;
}

}  // namespace sinew::client
