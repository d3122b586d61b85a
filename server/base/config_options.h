// config_options.h - the table of options: name, unit, range and help of each member of Config.
//
// A flag is --NAME; the key in a configuration file is NAME, with `-` or `_` between words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/config.h"

namespace sinew::server {

struct Option {
  std::string_view name, unit, help;
  double minimum = 0, maximum = 0;             // of numbers, inclusive
  bool limit = false;                          // limits clients; listed by GetServerInfo
  std::vector<std::string_view> choices = {};  // of strings; empty = any
};

// Calls visit(Option, member&) for every option. Members are std::string, std::vector<std::string>,
// bool, double or std::uint64_t.
template <class SomeConfig, class Visit>
void VisitOptions(SomeConfig& c, Visit&& visit) {
  constexpr double kHuge = 1e15;
  auto& n = c.network;
  visit(Option{"listen", "",
               "Address to serve on, host:port (port 0 = any) or unix:/path; repeatable"},
        n.listen);
  visit(Option{"http", "", "Address of metrics and health probes, host:port, or off"}, n.http);
  visit(Option{"ready-file", "", "JSON file written when ready: addresses, http, pid"},
        n.ready_file);
  visit(Option{"channelz", "", "Serve gRPC channelz"}, n.channelz);
  visit(Option{"drain-seconds", "seconds", "Time for running calls to finish after SIGTERM", 0,
               86'400},
        n.drain_seconds);
  visit(Option{"log-format", "", "Format of log lines", 0, 0, false, {"text", "json"}},
        c.log.format);
  visit(Option{"log-level",
               "",
               "Lowest severity logged",
               0,
               0,
               false,
               {"debug", "info", "warning", "error", "off"}},
        c.log.level);
  visit(Option{"threads", "threads", "Threads that evaluate frames; 0 = one per core", 0, 1024},
        c.compute.threads);
  visit(Option{"isa",
               "",
               "Instruction set of the kernels",
               0,
               0,
               false,
               {"auto", "scalar", "avx2", "avx512", "neon"}},
        c.compute.isa);
  visit(Option{"inline-microseconds", "microseconds",
               "Cheaper frames are evaluated on the receiving thread", 0, 10'000},
        c.compute.inline_microseconds);
  visit(Option{"data-dir", "", "Folder for rigs and bound data; empty = memory only"},
        c.rigs.data_dir);

  visit(Option{"max-streams-per-connection", "calls", "Concurrent calls per connection", 1, 65'535,
               true},
        n.streams_per_connection);
  visit(
      Option{"max-message-bytes", "bytes", "Largest message from a client", 65'536, 1 << 30, true},
      n.message_bytes);
  visit(Option{"max-deforms", "calls", "Concurrent Deform and DeformClip calls", 1, 1e6, true},
        c.compute.deforms);
  visit(Option{"max-frame-bytes", "bytes", "Total size of frame buffers", 1 << 20, kHuge, true},
        c.compute.frame_bytes);
  auto& r = c.rigs;
  visit(Option{"max-rig-bytes", "bytes", "Size of a serialised rig", 1024, 2147483647.0, true},
        r.bytes);
  visit(Option{"max-rig-vertices", "vertices", "Vertices per rig", 1, 100e6, true}, r.vertices);
  visit(Option{"max-rig-joints", "joints", "Joints per rig", 1, 65'535, true}, r.joints);
  visit(Option{"max-rig-meshes", "meshes", "Meshes per rig", 1, 65'535, true}, r.meshes);
  visit(Option{"max-rig-controls", "controls", "Controls per rig", 1, 65'535, true}, r.controls);
  visit(Option{"max-vertex-influences", "influences", "Influences per vertex", 1, 255, true},
        r.influences);
  visit(Option{"max-face-corners", "corners", "Corners per face", 3, 65'535, true}, r.face_corners);
  visit(Option{"max-joint-depth", "joints", "Joints on a path from a root, both ends counted", 1,
               65'535, true},
        r.joint_depth);
  visit(Option{"max-rig-targets", "targets", "Morph targets per rig", 1, 1e6, true}, r.targets);
  visit(Option{"max-rig-muscles", "muscles", "Muscles per rig", 0, 4096, true}, r.muscles);
  visit(Option{"max-muscle-vias", "points", "Via points per muscle", 0, 64, true}, r.muscle_vias);
  visit(Option{"max-summary-bytes", "bytes",
               "Names, joints and controls of a rig in a GetRig reply", 1024, 4e6, true},
        r.summary_bytes);
  visit(Option{"max-rigs", "rigs", "Stored rigs", 1, 1e7, true}, r.count);
  visit(Option{"max-stored-bytes", "bytes", "Total size of stored rigs, serialised", 1024, kHuge,
               true},
        r.stored_bytes);
  visit(
      Option{"max-parsed-bytes", "bytes", "Parsed rigs kept in memory without a session", 0, kHuge},
      r.parsed_bytes);
  visit(Option{"max-uploads", "uploads", "Unfinished uploads", 1, 1e6, true}, r.uploads);
  visit(Option{"max-upload-bytes", "bytes", "Total size of unfinished uploads", 1024, kHuge, true},
        r.upload_bytes);
  visit(
      Option{"max-transfers", "calls", "Concurrent UploadRig and DownloadRig calls", 1, 1e6, true},
      r.transfers);
  visit(Option{"max-upload-seconds", "seconds",
               "How long an unfinished upload is kept after its last data", 1, 1e7, true},
        r.upload_seconds);
  visit(Option{"max-bind-bytes", "bytes", "Memory per bind", 1 << 20, kHuge, true},
        c.binds.memory_bytes);
  visit(Option{"max-bind-seconds", "seconds", "Time per bind", 0.001, 1e7, true}, c.binds.seconds);
  visit(Option{"max-queued-binds", "binds", "Waiting binds", 1, 1e6, true}, c.binds.queued);
  visit(Option{"max-bound-bytes", "bytes", "Bound data in memory", 1 << 10, kHuge, true},
        c.binds.bound_bytes);
  visit(Option{"max-bound-disk-bytes", "bytes", "Bound data under data-dir", 0, kHuge},
        c.binds.disk_bytes);
  auto& s = c.sessions;
  visit(Option{"max-sessions", "sessions", "Concurrent sessions", 1, 1e7, true}, s.count);
  visit(
      Option{"session-ttl-seconds", "seconds", "Session lease if the client requests none", 1, 1e7},
      s.ttl_seconds);
  visit(Option{"max-session-ttl-seconds", "seconds", "Longest session lease a client may request",
               1, 1e7, true},
        s.max_ttl_seconds);
  visit(Option{"shared-ttl-seconds", "seconds",
               "Lease of a session created for a Target with a recipe", 1, 1e7},
        s.shared_ttl_seconds);
  visit(Option{"max-recipe-bytes", "bytes", "Size of a recipe, as text or serialised", 16, 1 << 20,
               true},
        s.recipe_bytes);
  visit(
      Option{"max-request-id-bytes", "bytes", "Size of request_id in CreateSession", 1, 4096, true},
      s.request_id_bytes);
  visit(Option{"max-page-size", "rows", "Rows per page of a List reply", 1, 100'000, true}, s.page);
  visit(Option{"max-watches", "calls", "Concurrent WatchSession calls", 1, 1e6, true}, s.watches);
  auto& t = c.streams;
  visit(Option{"max-streams", "streams", "Concurrent StreamDeform calls", 1, 1e6, true}, t.count);
  visit(Option{"max-window", "frames", "Unacknowledged frames per stream", 1, 65'536, true},
        t.window);
  visit(Option{"max-backlog", "poses", "Poses queued beyond the window", 1, 65'536, true},
        t.backlog);
  visit(Option{"max-waiting-pose-bytes", "bytes",
               "Poses of a stream received before its session is found", 1024, kHuge, true},
        t.waiting_pose_bytes);
  visit(Option{"max-chunk-bytes", "bytes", "Bulk data per Frame message", 4096, 2e9, true},
        t.chunk_bytes);
  visit(Option{"max-response-bytes", "bytes", "Largest max_response_bytes of Deform", 4096, 2e9,
               true},
        t.response_bytes);
  visit(Option{"max-clip-poses", "poses", "Poses per DeformClip call", 1, 1e7, true}, t.clip_poses);
  visit(Option{"max-stall-seconds", "seconds", "Time a stream may wait for an acknowledgement", 0.1,
               1e6, true},
        t.stall_seconds);
  auto& m = c.compare;
  visit(Option{"max-compares", "calls", "Concurrent CompareDeformers calls", 1, 1e6, true},
        m.count);
  visit(
      Option{"max-compare-targets", "targets", "Targets per CompareDeformers call", 1, 4096, true},
      m.targets);
  visit(Option{"max-compare-poses", "poses", "Poses per CompareDeformers call", 1, 1e7, true},
        m.poses);
  visit(Option{"max-compare-bytes", "bytes", "Total memory of CompareDeformers calls", 1 << 20,
               kHuge, true},
        m.bytes);
  auto& w = c.weights;
  visit(Option{"max-weight-calls", "calls", "Concurrent ComputeWeights calls", 1, 1e6, true},
        w.count);
  visit(Option{"max-weight-bytes", "bytes", "Memory per ComputeWeights call", 1 << 20, kHuge, true},
        w.memory_bytes);
  visit(Option{"max-weight-seconds", "seconds", "Time per ComputeWeights call", 0.001, 1e7, true},
        w.seconds);
  visit(Option{"max-weight-resolution", "voxels", "Voxels along the longest side in ComputeWeights",
               16, 512, true},
        w.resolution);
}

}  // namespace sinew::server
