// rig_job_fixture.h - calls that make a new rig from one that is stored, with progress and a
// report.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/server/limit_refusal.h"

namespace sinew::testing {

template <class Report>
struct RigJobAnswer {
  grpc::Status status;
  std::vector<float> progress;
  v1::RigSummary rig;
  Report report;
};

class RigJobTest : public RefusalTest {
 protected:
  std::string Put(const v1::Rig& rig) {
    std::string name;
    EXPECT_CODE(stubs().Upload(rig.SerializeAsString(), &name), grpc::StatusCode::OK);
    return name;
  }
  template <class Report, class Response>
  static RigJobAnswer<Report> Finish(std::unique_ptr<grpc::ClientReader<Response>> reader) {
    RigJobAnswer<Report> answer;
    Response response;
    while (reader->Read(&response)) {
      EXPECT_FALSE(answer.rig.ByteSizeLong() > 0) << "nothing follows the rig";
      answer.progress.push_back(response.progress());
      if (response.has_rig()) answer.rig = response.rig();
      if (response.has_report()) answer.report = response.report();
    }
    answer.status = reader->Finish();
    return answer;
  }
  v1::Rig Download(const std::string& name) {
    grpc::ClientContext context;
    v1::DownloadRigRequest request;
    request.set_name(name);
    auto reader = stubs().rigs->DownloadRig(&context, request);
    v1::DownloadRigResponse piece;
    std::string bytes;
    while (reader->Read(&piece)) bytes += piece.data();
    EXPECT_CODE(reader->Finish(), grpc::StatusCode::OK);
    EXPECT_EQ(RigNameOf(bytes), name);
    v1::Rig rig;
    EXPECT_TRUE(rig.ParseFromString(bytes));
    return rig;
  }
};

}  // namespace sinew::testing
