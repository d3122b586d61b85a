// store_fixture.h - stores of rigs and uploads, in memory and under a data folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/base/digest.h"
#include "server/base/files.h"
#include "server/base/metrics.h"
#include "server/store/rig_store.h"
#include "server/store/upload_table.h"
#include "tests/support/fitted_config.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_rig.h"

namespace sinew::server {

inline const Caller kCaller{.peer = "10.0.0.1", .tenant = {}, .principal = {}};
inline const Caller kOther{.peer = "10.0.0.2", .tenant = {}, .principal = {}};
inline const Caller kAcme{.peer = "10.0.0.3", .tenant = "acme", .principal = "ann"};

inline Log QuietLog() {
  return std::make_shared<spdlog::logger>("test");
}

struct Sample {
  std::string bytes, hex;
  RigKey key;  // without a tenant
  v1::UploadHeader header;
};

inline Sample MakeSample(const std::string& label, const testing::TubeShape& shape = {}) {
  v1::Rig rig = testing::TubeRig(shape);
  rig.set_label(label);
  Sample sample;
  sample.bytes = rig.SerializeAsString();
  sample.hex = Sha256Hex(sample.bytes);
  sample.key = {{}, sample.hex};
  sample.header.set_sha256(sample.hex);
  sample.header.set_size_bytes(sample.bytes.size());
  return sample;
}

// Everything is tried in memory and under a data folder.
class StoreTest : public ::testing::TestWithParam<bool> {
 protected:
  StoreTest() {
    if (GetParam()) config_.data_dir = folder_.path().string();
  }

  std::unique_ptr<RigStore> OpenStore() {
    auto store = RigStore::Open(config_, share_, shared_, metrics_, QuietLog());
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::unique_ptr<UploadTable> OpenUploads(RigStore& store) {
    auto uploads = UploadTable::Open(config_, share_, store, QuietLog(), now_);
    EXPECT_TRUE(uploads.ok()) << uploads.status();
    return *std::move(uploads);
  }
  std::filesystem::path Folder(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path FileOf(const Sample& sample) const {
    return Folder("rigs") / ("sha256-" + sample.hex + ".sinewrig");
  }

  RigConfig config_ = testing::FittedConfig().rigs;
  double share_ = 1;
  SharedStore* shared_ = nullptr;
  Metrics metrics_{"0", "scalar"};
  const testing::TemporaryFolder folder_;
  const UploadTable::Time now_{std::chrono::seconds(1'000'000)};
  const UploadTable::Sender sender_ = UploadTable::NewSender(kCaller);
};

}  // namespace sinew::server
