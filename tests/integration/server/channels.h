// channels.h - attributes that frames carry as a channel, through calls that cut frames into
// pieces.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "tests/integration/server/stubs.h"

namespace sinew::testing {

// The only channel of a frame or piece, whose checksum must be that of its bulk.
inline std::string ChannelOf(const v1::Frame& frame, v1::Attribute attribute, v1::Encoding encoding,
                             bool whole) {
  EXPECT_EQ(frame.channels_size(), 1);
  if (frame.channels_size() != 1) return "";
  EXPECT_EQ(frame.channels(0).attribute(), attribute);
  EXPECT_EQ(frame.channels(0).encoding(), encoding);
  const std::string bulk = frame.positions() + frame.normals() + frame.channels(0).data();
  if (whole) {
    EXPECT_EQ(frame.checksum(), XXH3_64bits(bulk.data(), bulk.size()));
  }
  return frame.channels(0).data();
}

// A clip of the one pose comes in several pieces of `chunk_bytes`, whose channels, which `of`
// reads, are together that of the frame in one.
template <class ChannelReader>
void ExpectClipInPieces(Stubs& stubs, const v1::DeformRequest& one, std::uint32_t chunk_bytes,
                        const ChannelReader& of) {
  v1::DeformClipRequest request;
  *request.mutable_target() = one.target();
  *request.mutable_output() = one.output();
  request.mutable_output()->set_chunk_bytes(chunk_bytes);
  *request.mutable_poses()->add_poses() = one.pose();
  grpc::ClientContext context;
  auto reader = stubs.deforms->DeformClip(&context, request);
  v1::DeformClipResponse response;
  std::string joined;
  std::size_t pieces = 0;
  while (reader->Read(&response)) {
    for (const v1::Frame& frame : response.frames()) {
      joined += of(frame);
      ++pieces;
    }
  }
  EXPECT_CODE(reader->Finish(), grpc::StatusCode::OK);
  EXPECT_GT(pieces, 1u);
  v1::DeformResponse whole;
  EXPECT_CODE(stubs.Deform(one, whole), grpc::StatusCode::OK);
  EXPECT_SAME_BYTES(joined, of(whole.frame()));
}

inline void ExpectNamedByTheServer(Stubs& stubs, v1::Attribute attribute) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_CODE(stubs.info->GetServerInfo(&context, {}, &info), grpc::StatusCode::OK);
  EXPECT_NE(std::find(info.attributes().begin(), info.attributes().end(), attribute),
            info.attributes().end());
}

}  // namespace sinew::testing
