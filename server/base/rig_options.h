// rig_options.h - the rows of the table of options that concern rigs and uploads. A part of
// config_options.
#pragma once

#include "server/base/config.h"
#include "server/base/option.h"

namespace sinew::server {

// SomeRigConfig: RigConfig, const or not.
template <class Rows, class SomeRigConfig>
void VisitRigOptions(const Rows& rows, SomeRigConfig& r) {
  const auto internal = rows.Internal();
  rows.Limit(r.bytes, "max-rig-bytes", "bytes", "Size of a serialised rig", 1024, 2147483647.0);
  internal.Limit(
      r.fields, "max-rig-fields", "fields",
      "Fields of a serialised rig at every level; 16 bytes of a packed list count as one", 1000,
      1e9);
  rows.Limit(r.vertices, "max-rig-vertices", "vertices", "Vertices per rig", 1, 100e6);
  rows.Limit(r.joints, "max-rig-joints", "joints", "Joints per rig", 1, 65'535);
  internal.Limit(r.meshes, "max-rig-meshes", "meshes", "Meshes per rig", 1, 65'535);
  internal.Limit(r.controls, "max-rig-controls", "controls", "Controls per rig", 1, 65'535);
  internal.Limit(r.influences, "max-vertex-influences", "influences", "Influences per vertex", 1,
                 255);
  internal.Limit(r.face_corners, "max-face-corners", "corners", "Corners per face", 3, 65'535);
  internal.Limit(r.joint_depth, "max-joint-depth", "joints",
                 "Joints on a path from a root, both ends counted", 1, 65'535);
  internal.Limit(r.targets, "max-rig-targets", "targets", "Morph targets per rig", 1, 1e6);
  internal.Limit(r.maps, "max-rig-maps", "maps", "Names of vertex maps per rig", 0, 65'536);
  internal.Limit(r.map_values, "max-rig-map-values", "values",
                 "Vertex maps times vertices per rig: each map gets a value for each vertex", 0,
                 1e12);
  internal.Limit(r.muscles, "max-rig-muscles", "muscles", "Muscles per rig", 0, 4096);
  internal.Limit(r.muscle_vias, "max-muscle-vias", "points", "Via points per muscle", 0, 64);
  internal.Limit(r.summary_bytes, "max-summary-bytes", "bytes",
                 "Names, joints and controls of a rig in a GetRig reply", 1024, 4e6);
  rows.Limit(r.count, "max-rigs", "rigs", "Stored rigs", 1, 1e7);
  rows.Share(5, std::uint64_t{4} << 30)
      .Limit(r.stored_bytes, "max-stored-bytes", "bytes", "Total size of stored rigs, serialised",
             1024, kHuge);
  rows.Share(4).Number(r.parsed_bytes, "max-parsed-bytes", "bytes",
                       "Parsed rigs kept in memory without a bind", 0, kHuge);
  rows.Share(8).Limit(
      r.parsing_bytes, "max-parsing-bytes", "bytes",
      "Total memory to parse rigs; others wait, and one that needs more is parsed alone", 1 << 20,
      kHuge);
  internal.Limit(r.uploads, "max-uploads", "uploads", "Unfinished uploads", 1, 1e6);
  rows.Share(3, std::uint64_t{1} << 30)
      .Limit(r.upload_bytes, "max-upload-bytes", "bytes", "Total size of unfinished uploads", 1024,
             kHuge);
  internal.Limit(r.transfers, "max-transfers", "calls",
                 "Concurrent UploadRig and DownloadRig calls", 1, 1e6);
  internal.Limit(r.upload_seconds, "max-upload-seconds", "seconds",
                 "How long an unfinished upload is kept after its last data", 1, 1e7);
}

}  // namespace sinew::server
