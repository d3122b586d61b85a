// config_options.h - the table of options: name, unit, range and help of each member of Config.
//
// A flag is --NAME; the key in a configuration file is NAME, with `-` or `_` between words; the
// variable of the environment is SINEWD_NAME in capitals, with `_`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/base/config.h"
#include "server/base/option.h"

namespace sinew::server {

// Calls visit(Option, member&) for every option. Members are std::string, std::vector<std::string>,
// bool, double or std::uint64_t.
template <class SomeConfig, class Visit>
void VisitOptions(SomeConfig& c, Visit&& visit) {
  constexpr double kHuge = 1e15;
  using Text = std::string_view;
  const auto text = [&](auto& member, Text name, Text help, std::vector<Text> choices = {}) {
    visit(Option{name, "", help, 0, 0, false, false, std::move(choices)}, member);
  };
  const auto number = [&](auto& member, Text name, Text unit, Text help, double minimum,
                          double maximum) {
    visit(Option{name, unit, help, minimum, maximum}, member);
  };
  // A number that limits clients.
  const auto limit = [&](auto& member, Text name, Text unit, Text help, double minimum,
                         double maximum) {
    visit(Option{name, unit, help, minimum, maximum, true}, member);
  };

  // The same, of what all clients hold together.
  const auto shared = [&](auto& member, Text name, Text unit, Text help, double minimum,
                          double maximum) {
    visit(Option{name, unit, help, minimum, maximum, true, true}, member);
  };

  auto& n = c.network;
  text(n.listen, "listen",
       "Address to serve on, host:port (port 0 = any) or unix:/path; repeatable");
  text(n.http, "http", "Address of metrics and health probes, host:port, or off");
  text(n.ready_file, "ready-file", "JSON file written when ready: addresses, http, pid");
  text(n.channelz, "channelz", "Serve gRPC channelz");
  number(n.drain_seconds, "drain-seconds", "seconds",
         "Time for running calls to finish after SIGTERM", 0, 86'400);
  text(c.log.format, "log-format", "Format of log lines", {"text", "json"});
  text(c.log.level, "log-level", "Lowest severity logged",
       {"debug", "info", "warning", "error", "off"});
  text(c.log.audit, "audit-log", "JSON lines of who changed what, a file or - for stdout");
  number(c.compute.threads, "threads", "threads", "Threads that evaluate frames; 0 = one per core",
         0, 1024);
  text(c.compute.isa, "isa", "Instruction set of the kernels",
       {"auto", "scalar", "avx2", "avx512", "neon"});
  number(c.compute.inline_microseconds, "inline-microseconds", "microseconds",
         "Cheaper frames are evaluated on the receiving thread", 0, 10'000);
  text(c.rigs.data_dir, "data-dir", "Folder for rigs and bound data; empty = memory only");
  limit(n.connections, "max-connections", "connections",
        "Open connections; fewer if the limit of open files is lower", 1, 1e6);
  limit(n.streams_per_connection, "max-streams-per-connection", "calls",
        "Concurrent calls per connection", 1, 65'535);
  limit(n.message_bytes, "max-message-bytes", "bytes", "Largest message from a client", 65'536,
        1 << 30);
  limit(n.connection_idle_seconds, "max-connection-idle-seconds", "seconds",
        "Time a connection may stay open without a call", 1, 1e6);
  limit(n.message_fields, "max-message-fields", "fields",
        "Fields of a message at every level; 16 bytes of a packed list count as one", 1000, 1e9);
  limit(n.calls_per_second, "max-calls-per-second", "calls", "Calls of one client in a second", 1,
        1e9);
  shared(n.arriving_messages, "max-arriving-messages", "messages",
         "Messages, besides poses, that arrive at a time; others wait", 1, 1e6);
  shared(n.held_bytes, "max-held-bytes", "bytes",
         "Total size of requests, waiting poses and replies that have not been read", 1 << 20,
         kHuge);
  shared(c.compute.deforms, "max-deforms", "calls", "Concurrent Deform and DeformClip calls", 1,
         1e6);
  shared(c.compute.waiting, "max-waiting-calls", "calls", "Unary calls that wait for a thread", 1,
         1e6);
  shared(c.compute.frame_bytes, "max-frame-bytes", "bytes", "Total size of frame buffers", 1 << 20,
         kHuge);
  number(c.compute.trim_seconds, "trim-seconds", "seconds",
         "Time without work until unused memory is given back to the system", 0.1, 1e7);
  auto& a = c.access;
  text(a.token_file, "token-file", "Bearer tokens, one JSON object a line; see --make-token");
  text(a.jwks_file, "jwks-file", "Public keys (JWKS) of the JSON Web Tokens that are accepted");
  text(a.jwt_audience, "jwt-audience", "Audience that a JSON Web Token must name");
  text(a.jwt_issuer, "jwt-issuer", "Issuer that a JSON Web Token must name; empty = any");
  text(a.jwt_tenant_claim, "jwt-tenant-claim", "Claim of a JSON Web Token with its tenant");
  text(a.tls_cert, "tls-cert", "Certificate chain in PEM; TCP addresses then use TLS");
  text(a.tls_key, "tls-key", "Private key of --tls-cert in PEM");
  text(a.tls_client_ca, "tls-client-ca",
       "Certificates in PEM of the authorities that client certificates must come from");
  text(a.tls_tenant_pattern, "tls-tenant-pattern",
       "Regular expression whose first group is the tenant in the name of a client certificate");
  text(a.trusted_proxies, "trusted-proxy",
       "Address or network (10.0.0.0/8) of a proxy, or unix, whose X-Forwarded-For is believed; "
       "repeatable");
  text(a.reflection, "reflection", "Server reflection; auto = on unless calls are authenticated",
       {"auto", "on", "off"});
  text(a.insecure, "insecure", "Listen beyond this machine without TLS or authentication");
  number(c.access.client_share, "client-share", "",
         "Part of what other clients leave of a limit that one client may hold; 1 = all of it",
         0.01, 1);
  auto& r = c.rigs;
  limit(r.bytes, "max-rig-bytes", "bytes", "Size of a serialised rig", 1024, 2147483647.0);
  limit(r.fields, "max-rig-fields", "fields",
        "Fields of a serialised rig at every level; 16 bytes of a packed list count as one", 1000,
        1e9);
  limit(r.vertices, "max-rig-vertices", "vertices", "Vertices per rig", 1, 100e6);
  limit(r.joints, "max-rig-joints", "joints", "Joints per rig", 1, 65'535);
  limit(r.meshes, "max-rig-meshes", "meshes", "Meshes per rig", 1, 65'535);
  limit(r.controls, "max-rig-controls", "controls", "Controls per rig", 1, 65'535);
  limit(r.influences, "max-vertex-influences", "influences", "Influences per vertex", 1, 255);
  limit(r.face_corners, "max-face-corners", "corners", "Corners per face", 3, 65'535);
  limit(r.joint_depth, "max-joint-depth", "joints",
        "Joints on a path from a root, both ends counted", 1, 65'535);
  limit(r.targets, "max-rig-targets", "targets", "Morph targets per rig", 1, 1e6);
  limit(r.maps, "max-rig-maps", "maps", "Names of vertex maps per rig", 0, 65'536);
  limit(r.map_values, "max-rig-map-values", "values",
        "Vertex maps times vertices per rig: each map gets a value for each vertex", 0, 1e12);
  limit(r.muscles, "max-rig-muscles", "muscles", "Muscles per rig", 0, 4096);
  limit(r.muscle_vias, "max-muscle-vias", "points", "Via points per muscle", 0, 64);
  limit(r.summary_bytes, "max-summary-bytes", "bytes",
        "Names, joints and controls of a rig in a GetRig reply", 1024, 4e6);
  shared(r.count, "max-rigs", "rigs", "Stored rigs", 1, 1e7);
  shared(r.stored_bytes, "max-stored-bytes", "bytes", "Total size of stored rigs, serialised", 1024,
         kHuge);
  number(r.parsed_bytes, "max-parsed-bytes", "bytes",
         "Parsed rigs kept in memory without a session", 0, kHuge);
  shared(r.uploads, "max-uploads", "uploads", "Unfinished uploads", 1, 1e6);
  shared(r.upload_bytes, "max-upload-bytes", "bytes", "Total size of unfinished uploads", 1024,
         kHuge);
  shared(r.transfers, "max-transfers", "calls", "Concurrent UploadRig and DownloadRig calls", 1,
         1e6);
  limit(r.upload_seconds, "max-upload-seconds", "seconds",
        "How long an unfinished upload is kept after its last data", 1, 1e7);
  number(c.scrub.bytes_per_second, "scrub-bytes-per-second", "bytes",
         "Rate at which stored files are reread to find damage; 0 = off", 0, 1e12);
  number(c.scrub.damaged_days, "damaged-days", "days", "How long damaged files are kept aside", 0,
         36'500);
  number(c.scrub.damaged_bytes, "max-damaged-bytes", "bytes", "Total size of those files", 0,
         kHuge);
  limit(c.binds.memory_bytes, "max-bind-bytes", "bytes", "Memory per bind", 1 << 20, kHuge);
  limit(c.binds.seconds, "max-bind-seconds", "seconds", "Time per bind", 0.001, 1e7);
  number(c.binds.short_seconds, "short-bind-seconds", "seconds",
         "Binds estimated below this do not wait for longer ones", 0, 1e7);
  shared(c.binds.queued, "max-queued-binds", "binds", "Waiting binds", 1, 1e6);
  limit(c.binds.bound_bytes, "max-bound-bytes", "bytes", "Bound data in memory", 1 << 10, kHuge);
  number(c.binds.disk_bytes, "max-bound-disk-bytes", "bytes", "Bound data under data-dir", 0,
         kHuge);
  auto& s = c.sessions;
  shared(s.count, "max-sessions", "sessions", "Concurrent sessions", 1, 1e7);
  number(s.ttl_seconds, "session-ttl-seconds", "seconds",
         "Session lease if the client requests none", 1, 1e7);
  limit(s.max_ttl_seconds, "max-session-ttl-seconds", "seconds",
        "Longest session lease a client may request", 1, 1e7);
  number(s.shared_ttl_seconds, "shared-ttl-seconds", "seconds",
         "Lease of a session created for a Target with a recipe", 1, 1e7);
  limit(s.recipe_bytes, "max-recipe-bytes", "bytes", "Size of a recipe, as text or serialised", 16,
        1 << 20);
  limit(s.request_id_bytes, "max-request-id-bytes", "bytes", "Size of request_id in CreateSession",
        1, 4096);
  limit(s.page, "max-page-size", "rows", "Rows per page of a List reply", 1, 100'000);
  shared(s.watches, "max-watches", "calls", "Concurrent WatchSession calls", 1, 1e6);
  auto& t = c.streams;
  shared(t.count, "max-streams", "streams", "Concurrent StreamDeform calls", 1, 1e6);
  limit(t.window, "max-window", "frames", "Unacknowledged frames per stream", 1, 65'536);
  limit(t.backlog, "max-backlog", "poses", "Poses queued beyond the window", 1, 65'536);
  limit(t.waiting_pose_bytes, "max-waiting-pose-bytes", "bytes",
        "Poses of a stream received before its session is found", 1024, kHuge);
  limit(t.chunk_bytes, "max-chunk-bytes", "bytes", "Bulk data per Frame message", 4096, 2e9);
  limit(t.response_bytes, "max-response-bytes", "bytes", "Largest max_response_bytes of Deform",
        4096, 2e9);
  limit(t.clip_poses, "max-clip-poses", "poses", "Poses per DeformClip call", 1, 1e7);
  limit(t.stall_seconds, "max-stall-seconds", "seconds",
        "Time a stream may wait for an acknowledgement, or a reply for its reader", 0.1, 1e6);
  limit(t.idle_seconds, "max-idle-seconds", "seconds", "Time a stream may stay open without a pose",
        1, 1e7);
  auto& m = c.compare;
  shared(m.count, "max-compares", "calls", "Concurrent CompareDeformers calls", 1, 1e6);
  limit(m.targets, "max-compare-targets", "targets", "Targets per CompareDeformers call", 1, 4096);
  limit(m.poses, "max-compare-poses", "poses", "Poses per CompareDeformers call", 1, 1e7);
  shared(m.bytes, "max-compare-bytes", "bytes", "Total memory of CompareDeformers calls", 1 << 20,
         kHuge);
  auto& w = c.weights;
  shared(w.count, "max-weight-calls", "calls", "Concurrent ComputeWeights calls", 1, 1e6);
  limit(w.memory_bytes, "max-weight-bytes", "bytes", "Memory per ComputeWeights call", 1 << 20,
        kHuge);
  limit(w.seconds, "max-weight-seconds", "seconds", "Time per ComputeWeights call", 0.001, 1e7);
  limit(w.resolution, "max-weight-resolution", "voxels",
        "Voxels along the longest side in ComputeWeights", 16, 512);
}

}  // namespace sinew::server
