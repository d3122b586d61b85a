// tls_credentials.h - TLS for a listening address, with certificates that may change.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/access/access.h"

namespace sinew::server {

// Each new connection uses the certificates that `access` holds at that time; open connections
// keep theirs. With client authorities, a client without a certificate of theirs cannot connect.
// For one address. `access`, and the result itself, must outlive the server.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const Access& access);

}  // namespace sinew::server
