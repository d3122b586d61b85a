// stream_client.h - one StreamDeform through the generated stub.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "client/lib/stream/frame_assembler.h"
#include "sinew/v1/deform_service.grpc.pb.h"
#include "tests/integration/server/stubs.h"

namespace sinew::testing {

// One StreamDeform, open from the start.
class Stream {
 public:
  Stream(Stubs& stubs, const v1::StreamOpen& open) : call_(stubs.deforms->StreamDeform(&context_)) {
    v1::StreamDeformRequest request;
    *request.mutable_open() = open;
    call_->Write(request);
  }
  ~Stream() {
    context_.TryCancel();
    if (!finished_) call_->Finish();
  }

  bool Send(const v1::Pose& pose) {
    v1::StreamDeformRequest request;
    *request.add_poses() = pose;
    return call_->Write(request);
  }
  bool Send(const v1::StreamDeformRequest& request) { return call_->Write(request); }
  bool Acknowledge(std::uint64_t frame) {
    v1::StreamDeformRequest request;
    request.set_received(frame);
    return call_->Write(request);
  }
  // The next message; false at the end.
  bool Read(v1::StreamDeformResponse& response) { return call_->Read(&response); }
  // The first message's `opened`.
  v1::StreamOpened Opened() {
    v1::StreamDeformResponse response;
    EXPECT_TRUE(Read(response));
    return response.opened();
  }
  // Reads until the frames numbered up to `last` are all here; each entry is a whole frame or a
  // problem.
  struct Answer {
    v1::Frame frame;  // bulk of all its pieces
    std::optional<v1::Problem> problem;
  };
  std::vector<Answer> ReadUntil(std::uint64_t last, bool acknowledge = true) {
    std::vector<Answer> answers;
    v1::StreamDeformResponse response;
    while ((partial_ || answers.empty() || answers.back().frame.frame() < last) && Read(response)) {
      for (const v1::FrameProblem& problem : response.problems()) {
        Answer& answer = answers.emplace_back();
        answer.frame.set_frame(problem.frame());
        answer.problem = problem.problem();
      }
      for (const v1::Frame& piece : response.frames()) Add(piece, answers);
      if (response.has_notice()) notices.push_back(response.notice());
      if (acknowledge && !answers.empty() && !partial_) {
        Acknowledge(answers.back().frame.frame());
      }
    }
    return answers;
  }
  void HalfClose() { call_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  grpc::Status Finish() {
    v1::StreamDeformResponse rest;
    while (Read(rest)) {
      if (rest.has_notice()) notices.push_back(rest.notice());
    }
    finished_ = true;
    return call_->Finish();
  }

  std::vector<v1::Notice> notices;

 private:
  void Add(const v1::Frame& piece, std::vector<Answer>& answers) {
    if (piece.compression() == v1::COMPRESSION_ZSTD) {
      AddCompressed(piece, answers);
      return;
    }
    if (!partial_) {
      answers.emplace_back().frame = piece;
    } else {
      v1::Frame& frame = answers.back().frame;
      frame.mutable_positions()->append(piece.positions());
      frame.mutable_normals()->append(piece.normals());
      for (int c = 0; c < std::min(frame.channels_size(), piece.channels_size()); ++c) {
        frame.mutable_channels(c)->mutable_data()->append(piece.channels(c).data());
      }
      frame.mutable_muscles()->MergeFrom(piece.muscles());
      *frame.mutable_timing() = piece.timing();
    }
    partial_ = !piece.last_chunk();
  }

  // The bytes that the client library decompresses.
  void AddCompressed(const v1::Frame& piece, std::vector<Answer>& answers) {
    if (!partial_) answers.emplace_back().frame = piece;
    partial_ = !piece.last_chunk();
    v1::StreamDeformResponse message;
    *message.add_frames() = piece;
    auto reply =
        client::ParseReply<v1::StreamDeformResponse>(std::make_shared<const client::MessageBytes>(
            std::vector<grpc::Slice>{grpc::Slice(message.SerializeAsString())}));
    ASSERT_TRUE(reply.ok()) << reply.status();
    const auto data = assembler_.Add(std::move(reply->chunks[0]));
    ASSERT_TRUE(data.ok()) << data.status();
    if (*data == nullptr) return;
    v1::Frame& frame = answers.back().frame;
    *frame.mutable_timing() = piece.timing();
    const client::FrameView view(*data);
    const auto bytes_of = [&](client::Attribute attribute) {
      const client::ByteSpans& spans = view.bytes(attribute);
      std::string bytes(spans.size(), '\0');
      EXPECT_TRUE(spans.CopyTo(std::as_writable_bytes(std::span(bytes))).ok());
      return bytes;
    };
    frame.set_positions(bytes_of(client::Attribute::kPositions));
    frame.set_normals(bytes_of(client::Attribute::kNormals));
  }

  grpc::ClientContext context_;
  client::FrameAssembler assembler_{true, 64 << 20};
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamDeformRequest, v1::StreamDeformResponse>>
      call_;
  bool finished_ = false, partial_ = false;
};

}  // namespace sinew::testing
