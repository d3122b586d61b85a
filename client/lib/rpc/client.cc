#include "sinew/client.h"

#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/rpc/connection.h"
#include "core/base/status.h"

namespace sinew::client {

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& call) const {
  SINEW_ASSIGN_OR_RETURN(
      const auto response,
      connection_->Call(connection_->info(), &InfoStub::GetServerInfo, {}, call));
  return ToServerInfo(response);
}

absl::StatusOr<MethodList> Client::ListMethods(const CallOptions& call) const {
  MethodList list;
  v1::ListMethodsRequest request;
  do {
    SINEW_ASSIGN_OR_RETURN(
        const auto response,
        connection_->Call(connection_->info(), &InfoStub::ListMethods, request, call));
    for (const v1::Method& method : response.methods()) list.methods.push_back(ToMethod(method));
    for (const v1::Preset& preset : response.presets()) list.presets.push_back(ToPreset(preset));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return list;
}

}  // namespace sinew::client
