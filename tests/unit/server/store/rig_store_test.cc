#include "server/store/rig_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/digest.h"
#include "server/base/files.h"
#include "server/base/status.h"
#include "server/store/upload_table.h"
#include "tests/support/test_rig.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

Log QuietLog() {
  return MakeLog({.format = "text", .level = "off"});
}

struct Sample {
  std::string bytes, hex;
  v1::UploadHeader header;
};

Sample MakeSample(const std::string& label) {
  v1::Rig rig = testing::TubeRig();
  rig.set_label(label);
  Sample sample;
  sample.bytes = rig.SerializeAsString();
  sample.hex = Sha256Hex(sample.bytes);
  sample.header.set_sha256(sample.hex);
  sample.header.set_size_bytes(sample.bytes.size());
  return sample;
}

// Everything is tried in memory and under a data folder.
class RigStoreTest : public ::testing::TestWithParam<bool> {
 protected:
  RigStoreTest() {
    static int serial = 0;
    folder_ = fs::path(::testing::TempDir()) /
              ("rigs_" + std::to_string(::getpid()) + "_" + std::to_string(serial++));
    if (GetParam()) config_.data_dir = folder_.string();
  }
  ~RigStoreTest() override { fs::remove_all(folder_); }

  std::unique_ptr<RigStore> OpenStore() {
    auto store = RigStore::Open(config_, QuietLog());
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  RigConfig config_;
  fs::path folder_;
  const UploadTable::Time now_ = std::chrono::system_clock::now();
};

TEST_P(RigStoreTest, StoresBytesVerbatimUnderDigest) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  EXPECT_EQ(store->Get(sample.hex).status().code(), absl::StatusCode::kNotFound);
  const auto stored = store->Put(sample.hex, sample.bytes, {});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)->summary.name(), "rigs/sha256-" + sample.hex);
  EXPECT_EQ((*stored)->summary.size_bytes(), sample.bytes.size());
  EXPECT_GT((*stored)->summary.create_time().seconds(), 0);
  EXPECT_EQ(store->Read(sample.hex, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_EQ(store->Read(sample.hex, 10, 5)->bytes, sample.bytes.substr(10, 5));
  EXPECT_EQ(store->Read(sample.hex, sample.bytes.size(), 5)->bytes, "");
  EXPECT_EQ(store->Read(sample.hex, sample.bytes.size() + 1, 5).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*store->Get(sample.hex), *stored);
}

TEST_P(RigStoreTest, ListsInPages) {
  const auto store = OpenStore();
  for (const char* label : {"a", "b", "c"}) {
    const Sample sample = MakeSample(label);
    ASSERT_TRUE(store->Put(sample.hex, sample.bytes, {}).ok());
  }
  bool more = false;
  const auto first = store->List("", 2, more);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(more);
  EXPECT_EQ(first[0].joints_size(), 0);
  EXPECT_EQ(first[0].vertices(), 72u);
  const auto rest = store->List(*ParseRigName("x", first[1].name()), 2, more);
  EXPECT_EQ(rest.size(), 1u);
  EXPECT_FALSE(more);
}

TEST_P(RigStoreTest, DeletesAndForgets) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  ASSERT_TRUE(store->Put(sample.hex, sample.bytes, {}).ok());
  EXPECT_TRUE(store->Delete(sample.hex).ok());
  EXPECT_EQ(store->Delete(sample.hex).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store->count(), 0u);
  EXPECT_EQ(store->stored_bytes(), 0u);
  EXPECT_TRUE(ListFiles(folder_ / "rigs").empty());
}

TEST_P(RigStoreTest, LimitsAreExact) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.count = 1;
  {
    const auto store = OpenStore();
    EXPECT_TRUE(store->Put(a.hex, a.bytes, {}).ok());
    const absl::Status full = store->Put(b.hex, b.bytes, {}).status();
    EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(full.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value());
    EXPECT_TRUE(store->Put(a.hex, a.bytes, {}).ok());  // is there already
    EXPECT_TRUE(store->Delete(a.hex).ok());
    EXPECT_TRUE(store->Put(b.hex, b.bytes, {}).ok());
    EXPECT_TRUE(store->Delete(b.hex).ok());
  }
  config_.count = 10;
  config_.stored_bytes = a.bytes.size() + b.bytes.size() - 1;
  const auto store = OpenStore();
  EXPECT_TRUE(store->Put(a.hex, a.bytes, {}).ok());
  EXPECT_EQ(store->Put(b.hex, b.bytes, {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store->stored_bytes(), a.bytes.size());
  ++config_.stored_bytes;
  const auto larger = OpenStore();
  for (const Sample& sample : {a, b}) {
    EXPECT_TRUE(larger->Put(sample.hex, sample.bytes, {}).ok());
  }
}

TEST_P(RigStoreTest, EvictsUnusedParsedRigsByAge) {
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  config_.parsed_bytes = ConvertRig(a.bytes, config_)->rig->bytes() * 3 / 2;  // room for one
  const auto store = OpenStore();
  const std::shared_ptr<const Rig> used = (*store->Put(a.hex, a.bytes, {}))->rig;
  const std::weak_ptr<const Rig> unused = (*store->Put(b.hex, b.bytes, {}))->rig;
  EXPECT_FALSE(unused.expired());  // what is used does not count
  ASSERT_TRUE(store->Put(c.hex, c.bytes, {}).ok());
  EXPECT_TRUE(unused.expired());
  EXPECT_EQ((*store->Get(a.hex))->rig.get(), used.get());
  EXPECT_TRUE(store->Get(b.hex).ok());  // parsed again
}

TEST_P(RigStoreTest, UploadsGrowAndFinish) {
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  const Sample sample = MakeSample("a");
  EXPECT_EQ(uploads->Query(sample.header)->committed, 0u);
  const std::string_view bytes = sample.bytes;
  EXPECT_EQ(uploads->Append(sample.header, 0, bytes.substr(0, 100), now_)->committed, 100u);
  EXPECT_EQ(uploads->Query(sample.header)->committed, 100u);
  // A gap is refused, an overlap is passed over.
  EXPECT_EQ(uploads->Append(sample.header, 101, bytes.substr(101, 5), now_).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(uploads->Append(sample.header, 50, bytes.substr(50, 20), now_)->committed, 100u);
  EXPECT_EQ(uploads->Append(sample.header, 50, bytes.substr(50, 100), now_)->committed, 150u);
  const auto done = uploads->Append(sample.header, 150, bytes.substr(150), now_);
  ASSERT_TRUE(done.ok()) << done.status();
  ASSERT_NE(done->rig, nullptr);
  EXPECT_EQ(store->Read(sample.hex, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_NE(uploads->Query(sample.header)->rig, nullptr);
  EXPECT_NE(uploads->Append(sample.header, 0, bytes, now_)->rig, nullptr);
}

TEST_P(RigStoreTest, RejectsAndDropsWrongUploads) {
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  Sample sample = MakeSample("a");
  std::string changed = sample.bytes;
  changed[changed.size() / 2] ^= 1;
  EXPECT_EQ(uploads->Append(sample.header, 0, changed, now_).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(uploads->Query(sample.header)->committed, 0u);
  EXPECT_EQ(uploads->Append(sample.header, 0, sample.bytes + "x", now_).status().code(),
            absl::StatusCode::kOutOfRange);
  v1::UploadHeader junk;
  junk.set_sha256(Sha256Hex("junk"));
  junk.set_size_bytes(4);
  EXPECT_EQ(uploads->Append(junk, 0, "junk", now_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(uploads->Append(sample.header, 0, sample.bytes, now_).ok());
}

TEST_P(RigStoreTest, WrongHeaderErrorsNameField) {
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  v1::UploadHeader header = MakeSample("a").header;
  for (const std::string& digest :
       {std::string(), std::string("abc"), std::string(64, 'G'), std::string(64, 'A'),
        std::string(65, 'a'), "../" + std::string(61, 'a')}) {
    header.set_sha256(digest);
    EXPECT_EQ(FieldOf(uploads->Query(header).status()), "header.sha256") << digest;
  }
  header = MakeSample("a").header;
  header.set_size_bytes(0);
  EXPECT_EQ(FieldOf(uploads->Query(header).status()), "header.size_bytes");
}

TEST_P(RigStoreTest, UploadLimitsAreExact) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.bytes = a.bytes.size();
  config_.uploads = 1;
  config_.upload_bytes = 200;
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  v1::UploadHeader large = a.header;
  large.set_size_bytes(config_.bytes + 1);
  EXPECT_TRUE(uploads->Query(a.header).ok());
  EXPECT_EQ(uploads->Query(large).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(uploads->Append(a.header, 0, a.bytes.substr(0, 100), now_).ok());
  EXPECT_EQ(uploads->Append(b.header, 0, b.bytes.substr(0, 1), now_).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(uploads->Append(a.header, 100, a.bytes.substr(100, 100), now_).ok());
  EXPECT_EQ(uploads->Append(a.header, 200, a.bytes.substr(200, 1), now_).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_P(RigStoreTest, NewUploadReplacesIdleOne) {
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  config_.uploads = 2;
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  ASSERT_TRUE(uploads->Append(a.header, 0, a.bytes.substr(0, 100), now_).ok());
  ASSERT_TRUE(
      uploads->Append(b.header, 0, b.bytes.substr(0, 50), now_ + std::chrono::seconds(1)).ok());
  const auto later = now_ + std::chrono::seconds(30);
  ASSERT_TRUE(uploads->Append(c.header, 0, c.bytes.substr(0, 10), later).ok());
  EXPECT_EQ(uploads->Query(a.header)->committed, 0u);
  EXPECT_EQ(uploads->Query(b.header)->committed, 50u);
  EXPECT_EQ(uploads->Query(c.header)->committed, 10u);
  if (GetParam()) {
    EXPECT_EQ(ListFiles(folder_ / "uploads").size(), 2u);
  }
  EXPECT_NE(uploads->Append(b.header, 50, b.bytes.substr(50), later)->rig, nullptr);
}

TEST_P(RigStoreTest, ConcurrentDeleteAndStoreIsAtomic) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  std::thread deleting([&] {
    for (int i = 0; i < 200; ++i) (void)store->Delete(sample.hex);
  });
  for (int i = 0; i < 200; ++i) {
    const auto put = store->Put(sample.hex, sample.bytes, {});
    EXPECT_TRUE(put.ok()) << put.status();
  }
  deleting.join();
  ASSERT_TRUE(store->Put(sample.hex, sample.bytes, {}).ok());
  EXPECT_EQ(store->Read(sample.hex, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_EQ(store->stored_bytes(), sample.bytes.size());
  ASSERT_TRUE(store->Delete(sample.hex).ok());
  EXPECT_EQ(store->stored_bytes(), 0u);
  if (GetParam()) {
    EXPECT_TRUE(ListFiles(folder_ / "rigs").empty());
  }
}

TEST_P(RigStoreTest, UnfinishedUploadsExpire) {
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  const Sample sample = MakeSample("a");
  ASSERT_TRUE(uploads->Append(sample.header, 0, sample.bytes.substr(0, 100), now_).ok());
  const std::chrono::seconds limit(static_cast<long>(config_.upload_seconds));
  uploads->Expire(now_ + limit);
  EXPECT_EQ(uploads->Query(sample.header)->committed, 100u);
  uploads->Expire(now_ + limit + std::chrono::seconds(1));
  EXPECT_EQ(uploads->Query(sample.header)->committed, 0u);
  EXPECT_TRUE(ListFiles(folder_ / "uploads").empty());
}

TEST_P(RigStoreTest, SendersOfSameRigShareUpload) {
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  const Sample sample = MakeSample("a");
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      for (std::size_t at = 0; at < sample.bytes.size(); at += 64) {
        const auto progress = uploads->Append(sample.header, at, sample.bytes.substr(at, 64), now_);
        // The last piece of another sender may come in between.
        EXPECT_TRUE(progress.ok() || absl::IsUnavailable(progress.status())) << progress.status();
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(store->Read(sample.hex, 0, 1 << 20)->bytes, sample.bytes);
}

INSTANTIATE_TEST_SUITE_P(Places, RigStoreTest, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Disk" : "Memory"; });

class DataFolder : public RigStoreTest {};
INSTANTIATE_TEST_SUITE_P(Places, DataFolder, ::testing::Values(true));

TEST_P(DataFolder, OutlivesStore) {
  const Sample whole = MakeSample("a"), half = MakeSample("b");
  {
    const auto store = OpenStore();
    const auto uploads = *UploadTable::Open(config_, *store);
    ASSERT_TRUE(uploads->Append(whole.header, 0, whole.bytes, now_).ok());
    ASSERT_TRUE(uploads->Append(half.header, 0, half.bytes.substr(0, 99), now_).ok());
  }
  const auto store = OpenStore();
  const auto uploads = *UploadTable::Open(config_, *store);
  EXPECT_EQ(store->Read(whole.hex, 0, 1 << 20)->bytes, whole.bytes);
  EXPECT_TRUE(store->Get(whole.hex).ok());
  bool more = false;
  EXPECT_EQ(store->List("", 10, more)[0].vertices(), 72u);
  EXPECT_EQ(uploads->Query(half.header)->committed, 99u);
  const auto done = uploads->Append(half.header, 99, half.bytes.substr(99), now_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_NE(done->rig, nullptr);
  EXPECT_TRUE(ListFiles(folder_ / "uploads").empty());
}

TEST_P(DataFolder, UploadKilledAfterLastByteFinishes) {
  const Sample good = MakeSample("a"), damaged = MakeSample("b");
  const auto store = OpenStore();
  fs::create_directories(folder_ / "uploads");
  const auto part = [&](const Sample& sample, const std::string& bytes) {
    std::ofstream(
        folder_ / "uploads" / (sample.hex + "-" + std::to_string(sample.bytes.size()) + ".part"),
        std::ios::binary)
        << bytes;
  };
  part(good, good.bytes);
  part(damaged, std::string(damaged.bytes.size(), 'x'));
  const auto uploads = *UploadTable::Open(config_, *store);
  EXPECT_EQ(uploads->Query(good.header)->committed, good.bytes.size());
  const auto done = uploads->Append(good.header, 0, "", now_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_NE(done->rig, nullptr);
  EXPECT_EQ(store->Read(good.hex, 0, 1 << 20)->bytes, good.bytes);
  EXPECT_EQ(uploads->Append(damaged.header, 0, "", now_).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(uploads->Append(damaged.header, 0, "", now_)->committed, 0u);
  EXPECT_TRUE(ListFiles(folder_ / "uploads").empty());
}

TEST_P(DataFolder, RigSurvivesFailedRead) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(sample.hex, sample.bytes, {}).ok()); }
  const auto store = OpenStore();
  const fs::path file = folder_ / "rigs" / ("sha256-" + sample.hex + ".sinewrig");
  fs::rename(file, folder_ / "away");
  fs::create_directory(file);  // opens, but cannot be read
  EXPECT_EQ(store->Get(sample.hex).status().code(), absl::StatusCode::kInternal);
  fs::remove(file);
  fs::rename(folder_ / "away", file);
  EXPECT_TRUE(store->Get(sample.hex).ok());
}

TEST_P(DataFolder, RigWithoutFileIsDropped) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(sample.hex, sample.bytes, {}).ok()); }
  const auto store = OpenStore();
  fs::remove(folder_ / "rigs" / ("sha256-" + sample.hex + ".sinewrig"));
  EXPECT_EQ(store->Get(sample.hex).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(store->Has(sample.hex));
}

TEST_P(DataFolder, DamagedBytesAreNeverUsed) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(sample.hex, sample.bytes, {}).ok()); }
  const fs::path file = folder_ / "rigs" / ("sha256-" + sample.hex + ".sinewrig");
  std::string changed = sample.bytes;
  changed.back() ^= 1;
  std::ofstream(file, std::ios::binary) << changed;
  const auto store = OpenStore();
  EXPECT_EQ(store->Get(sample.hex).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(store->Get(sample.hex).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(store->Put(sample.hex, sample.bytes, {}).ok());
}

TEST_P(DataFolder, IgnoresForeignFiles) {
  { OpenStore(); }
  std::ofstream(folder_ / "rigs" / "notes.txt") << "mine";
  std::ofstream(folder_ / "rigs" / "sha256-short.sinewrig") << "x";
  EXPECT_EQ(OpenStore()->count(), 0u);
  EXPECT_TRUE(fs::exists(folder_ / "rigs" / "notes.txt"));
}

TEST(RigStore, UnusableFolderIsAnError) {
  RigConfig config;
  config.data_dir = "/proc/no/such/place";
  EXPECT_EQ(RigStore::Open(config, QuietLog()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Files, WritesAreAtomic) {
  const fs::path path = fs::path(::testing::TempDir()) / ("atomic" + std::to_string(::getpid()));
  ASSERT_TRUE(WriteAtomically(path, "one").ok());
  ASSERT_TRUE(WriteAtomically(path, "two").ok());
  EXPECT_EQ(*ReadWholeFile(path), "two");
  fs::remove(path);
  EXPECT_EQ(ReadWholeFile(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(WriteAtomically("/no/such/folder/file", "x").ok());
}

TEST(Files, BareNameIsInWorkingFolder) {
  const fs::path name = "bare" + std::to_string(::getpid());
  const absl::Status status = WriteAtomically(name, "one");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(*ReadWholeFile(fs::current_path() / name), "one");
  fs::remove(name);
}

}  // namespace
}  // namespace sinew::server
