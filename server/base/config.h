// config.h - the configuration of sinewd, one struct per component.
//
// Defaults are defined here; names, units, ranges and help texts in config_options.h, from which
// flags, keys of the file, range checks and the limits in GetServerInfo come. Budgets of memory are
// 0 by default, which stands for a share of the machine's, see FitTo.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "server/base/log_config.h"
#include "server/base/machine.h"
#include "server/base/shared_config.h"

namespace sinew::server {

struct NetworkConfig {
  std::vector<std::string> listen{"127.0.0.1:50051"};  // empty = this process only
  std::string http = "127.0.0.1:0";                    // metrics and probes; "off" = none
  std::string web = "off";                             // [host:]port with a page for browsers
  std::vector<std::string> web_hosts;                  // under which browsers elsewhere find it
  std::uint64_t web_connections = 128;                 // of browsers
  std::string ready_file;                              // empty = none
  bool exit_with_parent = false, channelz = false;
  std::uint64_t connections = 10'000;
  std::uint64_t streams_per_connection = 256;
  std::uint64_t message_bytes = 4 << 20;   // largest message a client may send
  std::uint64_t message_fields = 1 << 17;  // of one, at every level
  std::uint64_t arriving_messages = 64;    // not complete yet, besides poses; gRPC holds them
  std::uint64_t held_bytes = 0;            // by calls, besides frames
  double connection_idle_seconds = 1800;   // without a call; clients connect again by themselves
  double connection_seconds = 86'400;      // then a client opens another one
  double calls_per_second = 20'000;        // of one client
  double drain_seconds = 30;               // time for calls to finish after the first SIGTERM
};

// Paths of files and rules are empty by default: no TLS, no authentication.
struct AccessConfig {
  std::string token_file, jwks_file, jwt_audience, jwt_issuer;
  std::string jwt_tenant_claim = "tenant";
  std::string tls_cert, tls_key;
  std::string tls_client_ca;       // not empty: clients need a certificate
  std::string tls_tenant_pattern;  // finds the tenant in the name of a client certificate
  std::vector<std::string> trusted_proxies;
  std::string reflection = "auto";  // on unless calls are authenticated
  bool insecure = false;
  std::uint64_t token_bytes = 16 << 10;  // of `authorization`
  // Largest fraction of what other clients leave of a limit that one client may hold; 1 = all.
  double client_share = 0.5;

  // Whether a call needs a token or a client certificate.
  bool Authenticates() const {
    return !token_file.empty() || !jwks_file.empty() || !tls_client_ca.empty();
  }
  bool UsesTls() const { return !tls_cert.empty(); }
  bool Reflects() const { return reflection == "auto" ? !Authenticates() : reflection == "on"; }
};

struct ComputeConfig {
  std::uint64_t threads = 0;       // that evaluate frames; 0 = one for each core
  std::uint64_t memory_bytes = 0;  // for everything below that is 0; 0 = 60 % of the machine
  std::string isa = "auto";
  double inline_microseconds = 250;  // cheaper frames are evaluated on the receiving thread
  std::uint64_t deforms = 1024;      // Deform and DeformClip calls at a time
  std::uint64_t waiting = 4096;      // unary calls that wait for a thread
  std::uint64_t frame_bytes = 0;     // frame buffers of all calls together
  double trim_seconds = 60;          // between times that unused memory is given back to the system
};

struct RigConfig {
  std::string data_dir;                   // empty = memory only
  std::uint64_t bytes = 256 << 20;        // of one rig, serialised
  std::uint64_t fields = 4 << 20;         // of one rig, serialised, at every level
  std::uint64_t vertices = 4'000'000;     // of one rig
  std::uint64_t joints = 16'384;          // of one rig
  std::uint64_t meshes = 4'096;           // of one rig
  std::uint64_t controls = 4'096;         // of one rig
  std::uint64_t influences = 255;         // of one vertex, as sent
  std::uint64_t face_corners = 1'024;     // of one face
  std::uint64_t joint_depth = 1'024;      // joints on a path from a root, both ends counted
  std::uint64_t targets = 65'536;         // of all shapes of one rig
  std::uint64_t maps = 256;               // names of vertex maps of one rig
  std::uint64_t map_values = 64 << 20;    // maps x vertices of one rig
  std::uint64_t muscles = 1'024;          // of one rig
  std::uint64_t muscle_vias = 32;         // via points of one muscle
  std::uint64_t summary_bytes = 3 << 20;  // names, joints, controls of one rig in a GetRig reply
  std::uint64_t count = 10'000;           // stored rigs
  std::uint64_t stored_bytes = 0;         // of all stored rigs, serialised
  std::uint64_t parsed_bytes = 0;         // of parsed rigs that no bind uses
  std::uint64_t parsing_bytes = 0;        // while rigs are parsed, all together
  std::uint64_t uploads = 64;             // unfinished uploads kept
  std::uint64_t upload_bytes = 0;         // of all unfinished uploads
  std::uint64_t transfers = 256;          // UploadRig and DownloadRig calls at a time
  double upload_seconds = 3600;  // how long an unfinished upload is kept after its last data
};

// What finds and removes damaged files under data_dir.
struct ScrubConfig {
  double bytes_per_second = 8 << 20;                     // read; 0 = off
  double damaged_days = 30;                              // how long damaged files are kept aside
  std::uint64_t damaged_bytes = std::uint64_t{1} << 30;  // of all that are kept
};

struct BindConfig {
  std::uint64_t memory_bytes = 0;                     // one bind may hold
  double seconds = 600;                               // one bind may take
  double short_seconds = 0.25;                        // shorter ones do not wait for longer ones
  std::uint64_t queued = 64;                          // waiting binds
  std::uint64_t bound_bytes = 0;                      // bound data in memory, with its rigs
  std::uint64_t disk_bytes = std::uint64_t{8} << 30;  // bound data under data_dir
};

struct SessionConfig {
  std::uint64_t count = 4096;
  double ttl_seconds = 600, max_ttl_seconds = 86'400;  // if the client requests none; at most
  double shared_ttl_seconds = 60;     // of sessions created for a Target with a recipe
  double seconds = 604'800;           // from its creation, however often the lease is renewed
  std::uint64_t recipe_bytes = 4096;  // of a recipe, as text or serialised
  std::uint64_t request_id_bytes = 128;
  std::uint64_t page = 1000;     // rows of a List reply
  std::uint64_t watches = 1024;  // WatchSession calls at a time
};

struct StreamConfig {
  std::uint64_t count = 1024;
  std::uint64_t window = 256;                  // largest a client may request
  std::uint64_t backlog = 64;                  // poses queued beyond the window
  std::uint64_t waiting_pose_bytes = 8 << 20;  // of poses received before their session is found
  std::uint64_t chunk_bytes = 64 << 20;        // largest a client may request
  std::uint64_t response_bytes = 64 << 20;     // largest a client may allow for Deform
  std::uint64_t clip_poses = 10'000;
  std::uint64_t published = 256, viewers = 64;  // streams that can be watched, viewers of each
  double stall_seconds = 30;
  double idle_seconds = 3600;  // an artist may pause; the client library opens it again
  // Access is checked when a stream opens: a revoked token is used for this long at most.
  double seconds = 86'400;
};

struct CompareConfig {
  std::uint64_t count = 16;                    // CompareDeformers calls at a time
  std::uint64_t targets = 16, poses = 10'000;  // of one call
  std::uint64_t bytes = 0;                     // all calls together may hold
};

struct WeightsConfig {
  std::uint64_t count = 4;         // ComputeWeights calls at a time
  std::uint64_t memory_bytes = 0;  // one computation may hold
  double seconds = 600;            // one computation may take
  std::uint64_t resolution = 512;  // voxels along the longest side
};

struct Config {
  NetworkConfig network;
  AccessConfig access;
  LogConfig log;
  ComputeConfig compute;
  RigConfig rigs;
  ScrubConfig scrub;
  BindConfig binds;
  SessionConfig sessions;
  SharedConfig shared;
  StreamConfig streams;
  CompareConfig compare;
  WeightsConfig weights;
  std::vector<std::string> unknown_variables;  // SINEWD_* that belong to no option; only logged

  // Checks ranges and that values are consistent. kInvalidArgument names the option;
  // kFailedPrecondition: would listen beyond this machine without TLS or authentication.
  absl::Status Validate() const;

  // Replaces threads, memory and shares of it that are 0 by those of the machine, and lowers limits
  // of a rig that are not set so that the largest one fits. kInvalidArgument: max-rig-bytes cannot.
  absl::Status FitTo(const Machine& machine);
};

// Overwrites `config` with the keys of a YAML or JSON file, whose ranges Validate checks.
// kInvalidArgument: unreadable, malformed, an unknown or repeated key, a value of the wrong type.
absl::Status LoadConfigFile(const std::string& path, Config& config);

// Result of parsing a command line.
struct CommandLine {
  bool run = true;    // false: print `text` and exit with `exit_code`
  int exit_code = 0;  // 0 after --help or --version, 64 usage, 78 configuration
  std::string text = {};
  bool check = false;           // --check: check the files that the configuration names
  std::string probe = {};       // address of --probe: check its health instead of serving
  std::string make_token = {};  // name of --make-token: make one instead of serving
  std::string token_out = {};   // file for the token
};

// Names of the options that differ.
std::vector<std::string> ChangedOptions(const Config& before, const Config& after);

// Overwrites `config` with the file of --config, the environment and flags, and validates it.
CommandLine ParseCommandLine(int argc, const char* const* argv, Config& config);

}  // namespace sinew::server
