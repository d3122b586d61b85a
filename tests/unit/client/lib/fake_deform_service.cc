#include <xxhash.h>
#include <chrono>
#include <thread>

#include <cmath>
#include <cstring>
#include <deque>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/unit/client/lib/fake_server.h"

namespace sinew::client {
namespace {

// Chunks of a frame, 40 vertices each.
std::vector<v1::Frame> MakeFrame(const v1::Pose& pose, bool checksums, bool wrong) {
  float number = 0;
  std::memcpy(&number, pose.joint_transforms().data(), sizeof(float));
  const std::vector<float> positions = ExpectedPositions(number);
  std::vector<v1::Frame> chunks;
  for (std::size_t offset = 0; offset < kFakeVertices; offset += 40) {
    const std::size_t count = std::min<std::size_t>(40, kFakeVertices - offset);
    v1::Frame& chunk = chunks.emplace_back();
    chunk.set_frame(pose.frame());
    chunk.set_time(pose.time());
    chunk.set_vertex_offset(offset);
    chunk.set_vertex_count(static_cast<std::uint32_t>(count));
    chunk.set_encoding(v1::ENCODING_FLOAT32);
    chunk.set_positions(positions.data() + offset * 3, count * 12);
    if (checksums) {
      chunk.set_checksum(XXH3_64bits(chunk.positions().data(), chunk.positions().size()) +
                         (wrong ? 1 : 0));
    }
  }
  chunks.back().set_last_chunk(true);
  return chunks;
}

bool IsBad(const v1::Pose& pose) {
  float number = 0;
  if (pose.joint_transforms().size() < sizeof(float)) return true;
  std::memcpy(&number, pose.joint_transforms().data(), sizeof(float));
  return !std::isfinite(number);
}

v1::FrameProblem MakeProblem(const v1::Pose& pose) {
  v1::FrameProblem problem;
  problem.set_frame(pose.frame());
  problem.mutable_problem()->set_code(3);
  problem.mutable_problem()->set_reason(v1::REASON_INVALID_FIELD);
  problem.mutable_problem()->set_message("pose.joint_transforms[0]: got nan");
  return problem;
}

grpc::Status Detailed(grpc::StatusCode code, const google::protobuf::Message& detail) {
  google::rpc::Status status;
  status.set_code(code);
  status.add_details()->PackFrom(detail);
  return {code, "refused", status.SerializeAsString()};
}

grpc::Status LimitExceeded(const std::string& limit) {
  google::rpc::QuotaFailure failure;
  failure.add_violations()->set_subject(limit);
  return Detailed(grpc::RESOURCE_EXHAUSTED, failure);
}

grpc::Status UseStream() {
  google::rpc::ErrorInfo info;
  info.set_reason("USE_STREAM");
  info.set_domain("sinew");
  return Detailed(grpc::FAILED_PRECONDITION, info);
}

class FakeDeformService : public v1::DeformService::Service {
 public:
  explicit FakeDeformService(FakeServer& server) : server_(server) {}

  grpc::Status Deform(grpc::ServerContext*, const v1::DeformRequest* request,
                      v1::DeformResponse* response) override {
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    const std::lock_guard lock(server_.mutex);
    if (grpc::Status found = Find(request->target()); !found.ok()) return found;
    const std::uint64_t allowed = request->max_response_bytes();
    server_.counts.max_response_bytes.push_back(allowed);
    if (allowed > server_.faults.largest_allowed) return LimitExceeded("max-response-bytes");
    if (server_.faults.largest_reply > (allowed == 0 ? 4 << 20 : allowed)) return UseStream();
    if (IsBad(request->pose())) return {grpc::INVALID_ARGUMENT, "pose: got nan"};
    // Unary frames come whole.
    v1::Frame& frame = *response->mutable_frame();
    for (const v1::Frame& chunk : MakeFrame(request->pose(), false, false)) {
      std::string positions = frame.positions() + chunk.positions();
      frame.MergeFrom(chunk);
      frame.set_positions(std::move(positions));
    }
    frame.set_vertex_offset(0);
    frame.set_vertex_count(kFakeVertices);
    frame.set_checksum(XXH3_64bits(frame.positions().data(), frame.positions().size()) +
                       (server_.faults.wrong_checksum ? 1 : 0));
    return grpc::Status::OK;
  }

  // Frame k has the volume k * 10^(target) and k crossings.
  grpc::Status CompareDeformers(grpc::ServerContext*, const v1::CompareDeformersRequest* request,
                                grpc::ServerWriter<v1::CompareDeformersResponse>* writer) override {
    if (grpc::Status fault = TakeFault(server_); !fault.ok()) return fault;
    const v1::PoseBlock& block = request->poses();
    {
      const std::lock_guard lock(server_.mutex);
      if (static_cast<std::size_t>(block.poses_size()) > server_.faults.most_compare_poses) {
        return LimitExceeded("max-compare-poses");
      }
      server_.counts.compared.push_back(*request);
    }
    std::size_t sent = 0;
    double unit = 1;
    for (int t = 0; t < request->targets_size(); ++t, unit *= 10) {
      for (int i = 0; i < block.poses_size(); ++i) {
        const v1::Pose& pose = block.poses(i);
        v1::CompareDeformersResponse reply;
        reply.set_target(static_cast<std::uint32_t>(t));
        const std::lock_guard lock(server_.mutex);
        if (grpc::Status found = Find(request->targets(t)); !found.ok()) return found;
        if (std::optional<grpc::Status> broken = TakeBreak(sent++)) return *broken;
        if (i == 0) reply.set_determinism_digest(server_.determinism_digest);
        if (IsBad(pose)) {
          *reply.add_problems() = MakeProblem(pose);
        } else if (static_cast<std::uint32_t>(i) >= request->preroll()) {
          v1::FrameMetrics& frame = *reply.add_frames();
          frame.set_frame(pose.frame());
          frame.set_volume_ratio(unit * static_cast<double>(pose.frame()));
          frame.set_self_intersections(pose.frame());
        }
        if (i + 1 == block.poses_size()) reply.mutable_summary()->set_bound_bytes(77);
        writer->Write(reply);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status StreamDeform(grpc::ServerContext* context,
                            grpc::ServerReaderWriter<v1::StreamDeformResponse,
                                                     v1::StreamDeformRequest>* stream) override {
    v1::StreamDeformRequest request;
    if (!stream->Read(&request) || !request.has_open()) {
      return {grpc::INVALID_ARGUMENT, "open: got none"};
    }
    Flow flow{.latest = request.open().mode() == v1::ORDER_MODE_LATEST,
              .checksums = !request.open().output().omit_checksums()};
    {
      const std::lock_guard lock(server_.mutex);
      ++server_.counts.streams;
      if (server_.faults.refuse_stream &&
          server_.counts.streams > server_.faults.streams_before_refusal) {
        return *std::exchange(server_.faults.refuse_stream, std::nullopt);
      }
      if (grpc::Status found = Find(request.open().target()); !found.ok()) return found;
      v1::StreamDeformResponse reply;
      v1::StreamOpened& opened = *reply.mutable_opened();
      opened.set_determinism_digest(server_.determinism_digest);
      opened.set_vertices(kFakeVertices);
      flow.window = request.open().window() > 0 ? request.open().window() : (flow.latest ? 2 : 8);
      opened.set_window(flow.window);
      stream->Write(reply);
      server_.streams.insert(context);
    }
    grpc::Status end = Serve(*stream, flow);
    const std::lock_guard lock(server_.mutex);
    server_.streams.erase(context);
    return end;
  }

 private:
  using Replies = grpc::ServerReaderWriter<v1::StreamDeformResponse, v1::StreamDeformRequest>;

  struct Flow {
    bool latest = false, checksums = true;
    std::uint32_t window = 8;
    std::deque<v1::Pose> waiting = {};
    std::deque<std::uint64_t> unacknowledged = {};
    std::uint32_t skipped = 0;
    std::size_t sent = 0;
    bool drained = false;
  };

  grpc::Status Serve(Replies& stream, Flow& flow) {
    v1::StreamDeformRequest request;
    while (true) {
      while (server_.stops_reading) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!stream.Read(&request)) break;
      const std::lock_guard lock(server_.mutex);
      if (request.has_received()) Acknowledge(flow, request.received());
      server_.counts.poses += static_cast<std::size_t>(request.poses_size());
      for (const v1::Pose& pose : request.poses()) {
        if (flow.latest && !flow.waiting.empty()) {
          flow.waiting.clear();
          ++flow.skipped;
        }
        flow.waiting.push_back(pose);
      }
      server_.counts.most_unacknowledged = std::max(
          server_.counts.most_unacknowledged, flow.waiting.size() + flow.unacknowledged.size());
      while (!flow.waiting.empty() && flow.unacknowledged.size() < flow.window && !flow.drained) {
        if (std::optional<grpc::Status> broken = TakeBreak(flow.sent)) return *broken;
        Answer(stream, flow);
      }
    }
    return flow.drained ? grpc::Status(grpc::UNAVAILABLE, "draining") : grpc::Status::OK;
  }

  void Acknowledge(Flow& flow, std::uint64_t received) {
    server_.counts.acknowledged.push_back(received);
    while (!flow.unacknowledged.empty() && flow.unacknowledged.front() <= received) {
      flow.unacknowledged.pop_front();
    }
  }

  void Answer(Replies& stream, Flow& flow) {
    const v1::Pose pose = std::move(flow.waiting.front());
    flow.waiting.pop_front();
    v1::StreamDeformResponse reply;
    if (IsBad(pose)) {
      *reply.add_problems() = MakeProblem(pose);
    } else {
      for (v1::Frame& chunk : MakeFrame(pose, flow.checksums, server_.faults.wrong_checksum)) {
        chunk.set_skipped(std::exchange(flow.skipped, 0));
        *reply.add_frames() = std::move(chunk);
      }
    }
    flow.unacknowledged.push_back(pose.frame());
    ++flow.sent;
    if (server_.faults.drain_after_frames == flow.sent) {
      server_.faults.drain_after_frames.reset();
      flow.drained = true;
      reply.mutable_notice()->set_kind(v1::Notice::KIND_DRAINING);
      reply.mutable_notice()->set_last_frame(pose.frame());
    }
    stream.Write(reply);
    if (server_.faults.repeat_frames) stream.Write(reply);
  }

  std::optional<grpc::Status> TakeBreak(std::size_t sent) {
    Faults& faults = server_.faults;
    if (!faults.break_stream_with || sent < faults.break_after_frames) return std::nullopt;
    if (faults.break_forgets) {
      server_.rigs.clear();
      server_.sessions.clear();
      server_.requests.clear();
    }
    if (faults.breaks_again) return faults.break_stream_with;
    return std::exchange(faults.break_stream_with, std::nullopt);
  }

  grpc::Status Find(const v1::Target& target) const {
    if (target.has_source()) {
      return server_.rigs.contains(target.source().rig())
                 ? grpc::Status::OK
                 : grpc::Status(grpc::NOT_FOUND, target.source().rig());
    }
    return server_.sessions.contains(target.session())
               ? grpc::Status::OK
               : grpc::Status(grpc::NOT_FOUND, target.session());
  }

  FakeServer& server_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeFakeDeformService(FakeServer& server) {
  return std::make_unique<FakeDeformService>(server);
}

}  // namespace sinew::client
