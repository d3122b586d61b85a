// fake_server.h - a server on a loopback port with faults that a test chooses. Its positions follow
// a formula, so that every frame can be checked: see ExpectedPositions.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sinew/client.h"
#include "sinew/v1/deform_service.grpc.pb.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/info_service.grpc.pb.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "sinew/v1/session_service.grpc.pb.h"

namespace sinew::client {

inline constexpr std::size_t kFakeVertices = 100;

// [kFakeVertices * 3]: the pose's first number, plus the index.
std::vector<float> ExpectedPositions(float pose);

// Faults; guarded by FakeServer::mutex.
struct Faults {
  std::optional<grpc::Status> fail_next_call;  // any call but a stream; once
  int calls_before_fault = 0;                  // how many succeed before fail_next_call
  std::size_t upload_breaks_after = 0;         // bytes received by one call; once
  bool download_lies = false;
  std::optional<grpc::Status> refuse_stream;  // instead of opening one; once
  int streams_before_refusal = 0;             // how many the server has received by then
  std::optional<grpc::Status>
      break_stream_with;  // instead of the frame after break_after_frames; once
  std::size_t break_after_frames = 0;
  bool breaks_again = false;                      // every time, not once
  bool break_forgets = false;                     // that break loses rigs and sessions as well
  std::optional<std::size_t> drain_after_frames;  // notice, then the end; once
  bool wrong_checksum = false;
  int unknown_sessions = 0;       // so many WatchSession calls reach a server that knows no session
  std::size_t largest_reply = 0;  // Deform: needs max_response_bytes of as much, or USE_STREAM
  std::size_t largest_allowed = ~std::size_t{0};  // max_response_bytes above it are a passed limit
  std::size_t most_compare_poses = ~std::size_t{0};  // of one CompareDeformers
  bool repeat_frames = false;                        // sends every frame twice
  std::optional<grpc::Status> break_weights;         // or a fit, after some progress; once
};

// What the server received.
struct Counts {
  int calls = 0, streams = 0, creates = 0, sessions_made = 0;
  std::size_t poses = 0;  // over all streams
  std::uint64_t uploaded_bytes = 0;
  std::size_t most_unacknowledged = 0;  // poses of one stream beyond `received`
  std::vector<std::uint64_t> acknowledged;
  std::vector<std::uint64_t> max_response_bytes;  // of each Deform
  std::vector<v1::CompareDeformersRequest> compared;
  std::vector<v1::ComputeWeightsRequest> weights_requests;
  std::vector<v1::FitSkeletonRequest> fit_requests;
  // By method without service; of each call, in the order of their arrival. Empty = none was sent.
  std::map<std::string, std::vector<std::string>> traceparents;
};

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  const std::string& address() const { return address_; }
  // Options that reach it, with short waits.
  ClientOptions Options() const;

  // Refuses a stream for this time, once: the next one, or that which follows a break after seven
  // frames. Counts streams from 0.
  void RefuseStreamFor(std::chrono::milliseconds time, bool after_break);

  // Ends every open stream as a lost connection does.
  void BreakStreams();

  std::atomic<bool> stops_reading = false;  // of streams, before their next message

  std::mutex mutex;
  Faults faults;
  Counts counts;
  std::map<std::string, std::string> rigs;      // name to bytes
  std::map<std::string, std::string> partial;   // SHA-256 to bytes so far
  std::map<std::string, v1::Session> sessions;  // by name
  std::map<std::string, std::string> requests;  // request id to session
  std::string determinism_digest = "digest-1";
  std::set<grpc::ServerContext*> streams;  // that are open

 private:
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

// A pose of one number.
struct OneNumberPose {
  explicit OneNumberPose(float number) : floats(12, number) {}
  std::vector<float> floats;
  operator Pose() const { return {.joint_transforms = floats}; }
};

// RESOURCE_EXHAUSTED; with `wait`, which is less than 1 s, for as long.
grpc::Status Refused(std::optional<std::chrono::milliseconds> wait);

// The services, made by FakeServer; defined in the .cc files.
std::unique_ptr<grpc::Service> MakeFakeDeformService(FakeServer& server);

// The fault of fail_next_call, once; else OK. Counts the call.
grpc::Status TakeFault(FakeServer& server);

}  // namespace sinew::client
