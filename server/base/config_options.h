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
#include "server/base/rig_options.h"
#include "server/base/shared_options.h"

namespace sinew::server {

// Calls visit(Option, member&) for every option. Members are std::string, std::vector<std::string>,
// bool, double or std::uint64_t.
template <class SomeConfig, class Visit>
void VisitOptions(SomeConfig& c, Visit&& visit) {
  const OptionRows rows(visit);
  const auto internal = rows.Internal();
  auto& n = c.network;
  rows.Text(n.listen, "listen",
            "Address to serve on, host:port (port 0 = any) or unix:/path; repeatable");
  rows.Text(n.http, "http", "Address of metrics and health probes, host:port, or off");
  rows.Text(n.web, "web",
            "Port with a page that shows rigs in a browser, [host:]port (127.0.0.1), or off");
  rows.Text(
      n.web_hosts, "web-host",
      "Name, with its port, under which browsers of other machines find that page; repeatable");
  rows.Text(n.ready_file, "ready-file", "JSON file written when ready: addresses, http, web, pid");
  rows.Text(n.exit_with_parent, "exit-with-parent",
            "Drain when the process that started this one has ended, as a test that was killed");
  internal.Text(n.channelz, "channelz", "Serve gRPC channelz");
  rows.Number(
      n.drain_seconds, "drain-seconds", "seconds",
      "Time after SIGTERM for calls to finish; uploads, comparisons and weights end at once", 0,
      86'400);
  rows.Text(c.log.format, "log-format", "Format of log lines", {"text", "json"});
  rows.Text(c.log.level, "log-level", "Lowest severity logged",
            {"debug", "info", "warning", "error", "off"});
  rows.Text(c.log.audit, "audit-log", "JSON lines of who changed what, a file or - for stdout");
  rows.Number(c.compute.threads, "threads", "threads",
              "Threads that evaluate frames; 0 = one for each core it may use", 0, 1024);
  rows.Number(c.compute.memory_bytes, "memory-bytes", "bytes",
              "Memory that rigs, bound data, frames and everything clients cause may take; 0 = 60 "
              "% of what the machine or the control group has",
              0, kHuge);
  internal.Text(c.compute.isa, "isa", "Instruction set of the kernels",
                {"auto", "scalar", "avx2", "avx512", "neon"});
  internal.Number(c.compute.inline_microseconds, "inline-microseconds", "microseconds",
                  "Cheaper frames are evaluated on the receiving thread", 0, 10'000);
  rows.Text(c.rigs.data_dir, "data-dir", "Folder for rigs and bound data; empty = memory only");
  rows.Limit(n.connections, "max-connections", "connections",
             "Open connections; fewer if the limit of open files is lower", 1, 1e6);
  rows.Limit(n.web_connections, "max-web-connections", "connections",
             "Open connections to --web, each with a thread; half of them may be pages", 2, 10'000);
  internal.Limit(n.streams_per_connection, "max-streams-per-connection", "calls",
                 "Concurrent calls per connection", 1, 65'535);
  rows.Limit(n.message_bytes, "max-message-bytes", "bytes",
             "Largest message from a client; pieces of an upload have up to 1 MiB", 1 << 20,
             1 << 30);
  rows.Limit(n.connection_idle_seconds, "max-connection-idle-seconds", "seconds",
             "Time a connection may stay open without a call", 1, 1e6);
  rows.Limit(n.connection_seconds, "max-connection-seconds", "seconds",
             "Age of a connection; open calls continue, new ones need a new connection", 1, 1e6);
  internal.Limit(n.message_fields, "max-message-fields", "fields",
                 "Fields of a message at every level; 16 bytes of a packed list count as one", 1000,
                 1e9);
  rows.Limit(n.calls_per_second, "max-calls-per-second", "calls", "Calls of one client in a second",
             1, 1e9);
  internal.Limit(n.arriving_messages, "max-arriving-messages", "messages",
                 "Messages, besides poses, that arrive at a time; others wait", 1, 1e6);
  rows.Share(5).Limit(n.held_bytes, "max-held-bytes", "bytes",
                      "Total size of requests, waiting poses and replies that have not been read",
                      1 << 20, kHuge);
  internal.Limit(c.compute.deforms, "max-deforms", "calls",
                 "Concurrent Deform and DeformClip calls", 1, 1e6);
  internal.Limit(c.compute.waiting, "max-waiting-calls", "calls",
                 "Unary calls that wait for a thread", 1, 1e6);
  rows.Share(10, 0, kLeastMemory)
      .Limit(c.compute.frame_bytes, "max-frame-bytes", "bytes", "Total size of frame buffers",
             1 << 20, kHuge);
  internal.Number(c.compute.trim_seconds, "trim-seconds", "seconds",
                  "How often unused memory is given back to the system, after any call", 0.1, 1e7);
  auto& a = c.access;
  rows.Text(a.token_file, "token-file", "Bearer tokens, one JSON object a line; see --make-token");
  rows.Text(a.jwks_file, "jwks-file",
            "Public keys (JWKS) of the JSON Web Tokens that are accepted");
  rows.Text(a.jwt_audience, "jwt-audience", "Audience that a JSON Web Token must name");
  rows.Text(a.jwt_issuer, "jwt-issuer", "Issuer that a JSON Web Token must name; empty = any");
  rows.Text(a.jwt_tenant_claim, "jwt-tenant-claim", "Claim of a JSON Web Token with its tenant");
  rows.Text(a.tls_cert, "tls-cert", "Certificate chain in PEM; TCP addresses then use TLS");
  rows.Text(a.tls_key, "tls-key", "Private key of --tls-cert in PEM");
  rows.Text(a.tls_client_ca, "tls-client-ca",
            "Certificates in PEM of the authorities that client certificates must come from");
  rows.Text(a.tls_tenant_pattern, "tls-tenant-pattern",
            "Regular expression (RE2) whose first group is the tenant in the name of a client "
            "certificate");
  rows.Text(
      a.trusted_proxies, "trusted-proxy",
      "Address or network (10.0.0.0/8) of a proxy, or unix, whose X-Forwarded-For is believed; "
      "repeatable");
  rows.Text(a.reflection, "reflection",
            "Server reflection; auto = on unless calls are authenticated", {"auto", "on", "off"});
  internal.Limit(a.token_bytes, "max-token-bytes", "bytes", "Size of the metadata `authorization`",
                 1 << 10, 1 << 20);
  rows.Text(a.insecure, "insecure", "Serve other machines without TLS or authentication");
  rows.Number(
      c.access.client_share, "client-share", "",
      "Largest fraction of a limit, less what others hold, that one client may hold; 1 = all of it",
      0.01, 1);
  VisitRigOptions(rows, c.rigs);
  internal.Number(c.scrub.bytes_per_second, "scrub-bytes-per-second", "bytes",
                  "Rate at which stored files are reread to find damage; 0 = off", 0, 1e12);
  internal.Number(c.scrub.damaged_days, "damaged-days", "days",
                  "How long damaged files are kept aside", 0, 36'500);
  internal.Number(c.scrub.damaged_bytes, "max-damaged-bytes", "bytes", "Total size of those files",
                  0, kHuge);
  rows.Share(12, 0, kLeastMemory)
      .Limit(c.binds.memory_bytes, "max-bind-bytes", "bytes", "Memory per bind", 1 << 20, kHuge);
  rows.Limit(c.binds.seconds, "max-bind-seconds", "seconds", "Time per bind", 0.001, 1e7);
  internal.Number(c.binds.short_seconds, "short-bind-seconds", "seconds",
                  "Binds estimated below this do not wait for longer ones", 0, 1e7);
  rows.Limit(c.binds.queued, "max-queued-binds", "binds", "Waiting binds", 1, 1e6);
  rows.Share(16, 0, kLeastMemory)
      .Limit(c.binds.bound_bytes, "max-bound-bytes", "bytes",
             "Bound data in memory with its rigs; of a client, what its sessions use", 1 << 10,
             kHuge);
  rows.Number(c.binds.disk_bytes, "max-bound-disk-bytes", "bytes", "Bound data under data-dir", 0,
              kHuge);
  auto& s = c.sessions;
  rows.Limit(s.count, "max-sessions", "sessions", "Concurrent sessions", 1, 1e7);
  rows.Number(s.ttl_seconds, "session-ttl-seconds", "seconds",
              "Session lease if the client requests none", 1, 1e7);
  rows.Limit(s.max_ttl_seconds, "max-session-ttl-seconds", "seconds",
             "Longest session lease a client may request", 1, 1e7);
  rows.Number(s.shared_ttl_seconds, "shared-ttl-seconds", "seconds",
              "Lease of a session that a call makes for its rig and recipe", 1, 1e7);
  rows.Limit(s.seconds, "max-session-seconds", "seconds",
             "Age of a session, however often its lease is renewed; open calls go on", 1, 1e9);
  internal.Limit(s.recipe_bytes, "max-recipe-bytes", "bytes",
                 "Size of a recipe, as text or serialised", 16, 1 << 20);
  internal.Limit(s.request_id_bytes, "max-request-id-bytes", "bytes",
                 "Size of request_id in CreateSession", 1, 4096);
  internal.Limit(s.page, "max-page-size", "rows", "Rows per page of a List reply", 1, 100'000);
  internal.Limit(s.watches, "max-watches", "calls", "Concurrent WatchSession calls", 1, 1e6);
  VisitSharedOptions(rows, c.shared);
  auto& t = c.streams;
  rows.Limit(t.count, "max-streams", "streams", "Concurrent StreamDeform calls", 1, 1e6);
  rows.Limit(t.window, "max-window", "frames", "Unacknowledged frames per stream", 1, 65'536);
  internal.Limit(t.backlog, "max-backlog", "poses", "Poses queued beyond the window", 1, 65'536);
  internal.Limit(t.waiting_pose_bytes, "max-waiting-pose-bytes", "bytes",
                 "Poses of a stream received before its session is found", 1024, kHuge);
  internal.Limit(t.chunk_bytes, "max-chunk-bytes", "bytes", "Bulk data per Frame message", 4096,
                 2e9);
  internal.Limit(t.response_bytes, "max-response-bytes", "bytes",
                 "Largest max_response_bytes of Deform", 4096, 2e9);
  internal.Limit(t.clip_poses, "max-clip-poses", "poses", "Poses per DeformClip call", 1, 1e7);
  rows.Limit(t.published, "max-published-streams", "streams", "Streams that can be watched", 1,
             1e6);
  rows.Limit(t.viewers, "max-viewers", "viewers", "WatchStream calls per published stream", 1, 1e6);
  rows.Limit(t.stall_seconds, "max-stall-seconds", "seconds",
             "Time a stream may wait for an acknowledgement, or a reply for its reader", 0.1, 1e6);
  rows.Limit(t.idle_seconds, "max-idle-seconds", "seconds",
             "Time a stream may stay open without a pose", 1, 1e7);
  rows.Limit(t.seconds, "max-stream-seconds", "seconds",
             "Age of a call, such as a stream; a client may call again", 1, 1e9);
  auto& m = c.compare;
  internal.Limit(m.count, "max-compares", "calls", "Concurrent CompareDeformers calls", 1, 1e6);
  internal.Limit(m.targets, "max-compare-targets", "targets", "Targets per CompareDeformers call",
                 1, 4096);
  internal.Limit(m.poses, "max-compare-poses", "poses", "Poses per CompareDeformers call", 1, 1e7);
  rows.Share(5).Limit(m.bytes, "max-compare-bytes", "bytes",
                      "Total memory of CompareDeformers calls", 1 << 20, kHuge);
  auto& w = c.weights;
  internal.Limit(w.count, "max-weight-calls", "calls",
                 "Concurrent ComputeWeights and FitSkeleton calls", 1, 1e6);
  rows.Share(8).Limit(w.memory_bytes, "max-weight-bytes", "bytes",
                      "Memory per ComputeWeights or FitSkeleton call", 1 << 20, kHuge);
  rows.Limit(w.seconds, "max-weight-seconds", "seconds",
             "Time per ComputeWeights or FitSkeleton call", 0.001, 1e7);
  internal.Limit(w.resolution, "max-weight-resolution", "voxels",
                 "Voxels along the longest side in ComputeWeights and FitSkeleton", 16, 512);
}

}  // namespace sinew::server
