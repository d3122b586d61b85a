#include "server/calls/rpc_service.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>

#include <utility>

namespace sinew::server {

// The generated code registers its methods like this.
void RpcService::Add(RpcMethod method, Begin begin) {
  const auto index = static_cast<int>(entries_.size());
  std::string path = absl::StrCat("/", method.package, ".", method.name);
  const Entry& entry =
      *entries_.emplace_back(new Entry{std::move(method), std::move(path), std::move(begin)});
  AddMethod(new grpc::internal::RpcServiceMethod(
      entry.path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(index,
                        new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                            [&entry](grpc::CallbackServerContext* context) {
                              return entry.begin(entry.method, context);
                            }));
}

}  // namespace sinew::server
