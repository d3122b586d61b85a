#include "server/services/deform_service.h"

#include "server/calls/clip.h"
#include "server/calls/compare.h"
#include "server/calls/deform.h"
#include "server/calls/stream.h"
#include "server/calls/watch_stream.h"

namespace sinew::server {

void AddDeformMethods(Runtime& runtime, RpcService& service) {
  service.Add({.runtime = runtime,
               .name = "DeformService/Deform",
               .scope = Scope::kSessionsUse,
               .work = true,
               .limit = &runtime.deforms},
              DeformCall::Start<>);
  service.Add({.runtime = runtime,
               .name = "DeformService/StreamDeform",
               .scope = Scope::kSessionsUse,
               .work = true,
               .limit = &runtime.streams},
              StreamCall::Start<>);
  service.Add({.runtime = runtime,
               .name = "DeformService/WatchStream",
               .scope = Scope::kSessionsUse,
               .work = true},
              WatchStreamCall::Start<>);
  service.Add({.runtime = runtime,
               .name = "DeformService/DeformClip",
               .scope = Scope::kSessionsUse,
               .work = true,
               .limit = &runtime.deforms},
              ClipCall::Start<>);
  service.Add({.runtime = runtime,
               .name = "DeformService/CompareDeformers",
               .scope = Scope::kSessionsUse,
               .work = true,
               .limit = &runtime.compares},
              CompareCall::Start<>);
}

}  // namespace sinew::server
