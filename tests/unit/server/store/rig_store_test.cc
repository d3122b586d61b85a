#include "server/store/rig_store.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/base/status.h"
#include "tests/unit/server/store/store_fixture.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

class RigStoreTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Places, RigStoreTest, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Disk" : "Memory"; });

TEST_P(RigStoreTest, StoresBytesVerbatimUnderDigest) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  EXPECT_EQ(store->Get(sample.key).status().code(), absl::StatusCode::kNotFound);
  const auto stored = store->Put(kCaller, sample.hex, sample.bytes, {});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)->summary.name(), "rigs/sha256-" + sample.hex);
  EXPECT_EQ((*stored)->summary.size_bytes(), sample.bytes.size());
  EXPECT_GT((*stored)->summary.create_time().seconds(), 0);
  EXPECT_EQ(store->Read(sample.key, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_EQ(store->Read(sample.key, 10, 5)->bytes, sample.bytes.substr(10, 5));
  EXPECT_EQ(store->Read(sample.key, sample.bytes.size(), 5)->bytes, "");
  EXPECT_EQ(store->Read(sample.key, sample.bytes.size() + 1, 5).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*store->Get(sample.key), *stored);
}

TEST_P(RigStoreTest, ListsWithoutLongNamesOfMeshes) {
  const auto store = OpenStore();
  v1::Rig rig = testing::TubeRig({});
  rig.mutable_meshes(0)->set_name(std::string(5000, 'm'));
  const std::string bytes = rig.SerializeAsString();
  const auto stored = store->Put(kCaller, Sha256Hex(bytes), bytes, {});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ((*stored)->summary.meshes_size(), 1);
  bool more = false;
  const auto rigs = store->List({}, "", 10, more);
  EXPECT_EQ(rigs[0]->meshes_size(), 0);
  EXPECT_EQ(rigs[0]->vertices(), (*stored)->summary.vertices());
}

TEST_P(RigStoreTest, ListsInPages) {
  const auto store = OpenStore();
  for (const char* label : {"a", "b", "c"}) {
    const Sample sample = MakeSample(label);
    ASSERT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  }
  bool more = false;
  const auto first = store->List({}, "", 2, more);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_TRUE(more);
  EXPECT_EQ(first[0]->joints_size(), 0);
  EXPECT_EQ(first[0]->vertices(), 72u);
  const auto rest = store->List({}, *ParseRigName("x", first[1]->name()), 2, more);
  EXPECT_EQ(rest.size(), 1u);
  EXPECT_FALSE(more);
}

TEST_P(RigStoreTest, DeletesAndForgets) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  ASSERT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  EXPECT_TRUE(store->Delete(sample.key).ok());
  EXPECT_EQ(store->Delete(sample.key).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store->count(), 0u);
  EXPECT_EQ(store->stored_bytes(), 0u);
  EXPECT_TRUE(ListFiles(Folder("rigs")).empty());
}

TEST_P(RigStoreTest, LimitsAreExact) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.count = 1;
  {
    const auto store = OpenStore();
    EXPECT_TRUE(store->Put(kCaller, a.hex, a.bytes, {}).ok());
    const absl::Status full = store->Put(kCaller, b.hex, b.bytes, {}).status();
    EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(full.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value());
    EXPECT_TRUE(store->Put(kCaller, a.hex, a.bytes, {}).ok());  // is there already
    EXPECT_TRUE(store->Delete(a.key).ok());
    EXPECT_TRUE(store->Put(kCaller, b.hex, b.bytes, {}).ok());
    EXPECT_TRUE(store->Delete(b.key).ok());
  }
  config_.count = 10;
  config_.stored_bytes = a.bytes.size() + b.bytes.size() - 1;
  const auto store = OpenStore();
  EXPECT_TRUE(store->Put(kCaller, a.hex, a.bytes, {}).ok());
  EXPECT_EQ(store->Put(kCaller, b.hex, b.bytes, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store->stored_bytes(), a.bytes.size());
  ++config_.stored_bytes;
  const auto larger = OpenStore();
  for (const Sample& sample : {a, b}) {
    EXPECT_TRUE(larger->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  }
}

TEST_P(RigStoreTest, EvictsUnusedParsedRigsByAge) {
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  config_.parsed_bytes = ConvertRig(a.bytes, config_)->rig->bytes() * 3 / 2;  // room for one
  const auto store = OpenStore();
  const std::shared_ptr<const Rig> used = (*store->Put(kCaller, a.hex, a.bytes, {}))->rig;
  const std::weak_ptr<const Rig> unused = (*store->Put(kCaller, b.hex, b.bytes, {}))->rig;
  EXPECT_FALSE(unused.expired());  // what is used does not count
  ASSERT_TRUE(store->Put(kCaller, c.hex, c.bytes, {}).ok());
  EXPECT_TRUE(unused.expired());
  EXPECT_EQ(metrics_.evicted_parsed.Value(), 1);
  EXPECT_EQ((*store->Get(a.key))->rig.get(), used.get());
  EXPECT_TRUE(store->Get(b.key).ok());  // parsed again
}

TEST_P(RigStoreTest, RigsAreParsedInTurn) {
  config_.parsing_bytes = 1 << 20;
  config_.parsed_bytes = 0;
  const auto store = OpenStore();
  const Quota& parsing = *store->quotas()[2];
  // Its map of few vertices takes far more than its bytes: all there is.
  v1::Rig rig = testing::TubeRig({.rings = 2, .segments = 3});
  v1::VertexMap& map = *rig.mutable_meshes(0)->add_maps();
  map.set_name("soft");
  *map.mutable_values() = testing::FloatArray(std::vector<float>(6, 0.5f), 1);
  *rig.add_meshes() = testing::TubeMesh({.rings = 300, .segments = 100});
  const std::string bytes = rig.SerializeAsString(), hex = Sha256Hex(bytes);
  ASSERT_TRUE(store->Put(kCaller, hex, bytes, {}).ok());
  EXPECT_EQ(parsing.count(), 0u);
  auto message = store->GetMessage({{}, hex});
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(parsing.count(), config_.parsing_bytes);
  const Sample other = MakeSample("b");
  std::atomic<bool> stored = false;
  std::thread sender([&] {
    EXPECT_TRUE(store->Put(kCaller, other.hex, other.bytes, {}).ok());
    stored = true;
  });
  while (parsing.waiting() == 0) std::this_thread::yield();
  EXPECT_FALSE(stored);
  message->held.reset();
  sender.join();
  EXPECT_EQ(parsing.count(), 0u);
}

TEST_P(RigStoreTest, ConcurrentDeleteAndStoreIsAtomic) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  std::thread deleting([&] {
    for (int i = 0; i < 200; ++i) (void)store->Delete(sample.key);
  });
  for (int i = 0; i < 200; ++i) {
    const auto put = store->Put(kCaller, sample.hex, sample.bytes, {});
    EXPECT_TRUE(put.ok()) << put.status();
  }
  deleting.join();
  ASSERT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  EXPECT_EQ(store->Read(sample.key, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_EQ(store->stored_bytes(), sample.bytes.size());
  ASSERT_TRUE(store->Delete(sample.key).ok());
  EXPECT_EQ(store->stored_bytes(), 0u);
  if (GetParam()) {
    EXPECT_TRUE(ListFiles(Folder("rigs")).empty());
  }
}

// Every call that stores the same rig at the same time returns once the file is there.
TEST_P(RigStoreTest, StoredRigIsOnDiskForEveryCaller) {
  if (!GetParam()) GTEST_SKIP() << "there is no file";
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  const auto put = [&] {
    const auto stored = store->Put(kCaller, sample.hex, sample.bytes, {});
    EXPECT_TRUE(stored.ok()) << stored.status();
    EXPECT_TRUE(store->files()->Read(sample.key).ok());
  };
  for (int i = 0; i < 20; ++i) {
    std::thread other(put);
    put();
    other.join();
    ASSERT_TRUE(store->Delete(sample.key).ok());
  }
}

TEST_P(RigStoreTest, TenantsAreApart) {
  const auto store = OpenStore();
  const Sample sample = MakeSample("a");
  const RigKey theirs{kAcme.tenant, sample.hex};
  ASSERT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  const absl::Status unknown = store->Get(theirs).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(store->Has(theirs));
  EXPECT_EQ(store->Read(theirs, 0, 1).status(), unknown);
  EXPECT_EQ(store->Bytes(theirs).status(), unknown);
  EXPECT_EQ(store->Delete(theirs), unknown);
  bool more = false;
  EXPECT_TRUE(store->List("acme", "", 10, more).empty());
  ASSERT_TRUE(store->Put(kAcme, sample.hex, sample.bytes, {}).ok());
  EXPECT_EQ(store->count(), 2u);
  EXPECT_EQ(store->List("acme", "", 10, more).size(), 1u);
  EXPECT_EQ(store->List({}, "", 10, more).size(), 1u);
  EXPECT_TRUE(store->Delete(sample.key).ok());
  EXPECT_EQ(store->Read(theirs, 0, 1 << 20)->bytes, sample.bytes);
  if (!GetParam()) return;
  EXPECT_FALSE(ListFiles(Folder("tenants/acme/rigs")).empty());
  const auto again = OpenStore();
  EXPECT_TRUE(again->Get(theirs).ok());
  EXPECT_FALSE(again->Has(sample.key));
}

TEST_P(RigStoreTest, OneClientLeavesRoomForOthers) {
  config_.count = 4;
  share_ = 0.5;
  const auto store = OpenStore();
  const auto put = [&](const Caller& caller, const char* label) {
    const Sample sample = MakeSample(label);
    return store->Put(caller, sample.hex, sample.bytes, {}).status();
  };
  EXPECT_TRUE(put(kCaller, "a").ok() && put(kCaller, "b").ok());
  EXPECT_EQ(ReasonOf(put(kCaller, "c")), v1::REASON_LIMIT);
  EXPECT_TRUE(put(kOther, "c").ok() && put(kAcme, "d").ok());
}

class RigFolder : public StoreTest {
 protected:
  // Some pieces long.
  const Sample long_ = MakeSample("long", {.rings = 2000, .segments = 50});

  absl::StatusOr<std::string> Download(RigStore& store, const Sample& sample) {
    std::string bytes;
    while (true) {
      SINEW_ASSIGN_OR_RETURN(const RigStore::Piece piece,
                             store.Read(sample.key, bytes.size(), 1 << 20));
      if (piece.bytes.empty()) return bytes;
      bytes += piece.bytes;
    }
  }
  static void Overwrite(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }
};
INSTANTIATE_TEST_SUITE_P(Places, RigFolder, ::testing::Values(true));

TEST_P(RigFolder, RigSurvivesFailedRead) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  const auto store = OpenStore();
  const fs::path file = FileOf(sample);
  fs::rename(file, Folder("away"));
  fs::create_directory(file);  // opens, but cannot be read
  EXPECT_EQ(store->Get(sample.key).status().code(), absl::StatusCode::kInternal);
  fs::remove(file);
  fs::rename(Folder("away"), file);
  EXPECT_TRUE(store->Get(sample.key).ok());
}

TEST_P(RigFolder, RigWithoutFileIsDropped) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  const auto store = OpenStore();
  fs::remove(FileOf(sample));
  EXPECT_EQ(store->Get(sample.key).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(store->Has(sample.key));
}

TEST_P(RigFolder, DamagedBytesAreNeverUsed) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  const fs::path file = FileOf(sample);
  std::string changed = sample.bytes;
  changed.back() ^= 1;
  std::ofstream(file, std::ios::binary) << changed;
  const auto store = OpenStore();
  EXPECT_EQ(store->Get(sample.key).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(store->Get(sample.key).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
}

TEST_P(RigFolder, IgnoresForeignFiles) {
  { OpenStore(); }
  std::ofstream(Folder("rigs") / "notes.txt") << "mine";
  std::ofstream(Folder("rigs") / "sha256-short.sinewrig") << "x";
  EXPECT_EQ(OpenStore()->count(), 0u);
  EXPECT_TRUE(fs::exists(Folder("rigs") / "notes.txt"));
}

TEST_P(RigFolder, NeverServesDamagedBytes) {
  ASSERT_GT(long_.bytes.size(), std::size_t{3} << 20);
  std::string flipped = long_.bytes, late = long_.bytes;
  flipped[100] ^= 1;
  late.back() ^= 1;
  for (const std::string& damaged : {flipped, late, long_.bytes.substr(0, long_.bytes.size() / 2),
                                     std::string(), long_.bytes + "x"}) {
    for (const bool running : {false, true}) {
      auto store = OpenStore();
      ASSERT_TRUE(store->Put(kCaller, long_.hex, long_.bytes, {}).ok());
      if (running) {
        EXPECT_EQ(*Download(*store, long_), long_.bytes);
      }
      Overwrite(FileOf(long_), damaged);
      if (!running) store = OpenStore();
      const auto served = Download(*store, long_);
      EXPECT_EQ(served.status().code(), absl::StatusCode::kDataLoss) << damaged.size();
      EXPECT_FALSE(store->Has(long_.key));
      EXPECT_EQ(served.status().message().find(folder_.path().string()), std::string::npos);
    }
  }
}

TEST_P(RigFolder, ChangeDuringDownloadIsNoticed) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Put(kCaller, long_.hex, long_.bytes, {}).ok());
  EXPECT_TRUE(store->Read(long_.key, 0, 1 << 20).ok());
  std::string changed = long_.bytes;
  changed[2 << 20] ^= 1;
  Overwrite(FileOf(long_), changed);
  EXPECT_TRUE(store->Read(long_.key, 1 << 20, 1 << 20).ok());
  EXPECT_EQ(store->Read(long_.key, 2 << 20, 1 << 20).status().code(), absl::StatusCode::kDataLoss);
}

TEST_P(RigFolder, ReplacedByTheSameBytesIsServed) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Put(kCaller, long_.hex, long_.bytes, {}).ok());
  fs::remove(FileOf(long_));
  Overwrite(FileOf(long_), long_.bytes);
  EXPECT_EQ(*Download(*store, long_), long_.bytes);
}

TEST_P(RigFolder, FirstUploadAfterDamageSucceeds) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  Overwrite(FileOf(sample), "damaged");
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const auto done = uploads->Append(sender_, sample.header, 0, sample.bytes, now_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_NE(done->rig, nullptr);
}

TEST_P(RigFolder, DamagedSummaryIsNotListed) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  const fs::path file = FileOf(sample) += ".summary";
  const std::string good = *ReadWholeFile(file);
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string damaged = good;
    damaged[at] ^= 4;
    Overwrite(file, damaged);
    const auto store = OpenStore();
    bool more = false;
    const auto rigs = store->List({}, "", 10, more);
    ASSERT_EQ(rigs.size(), 1u);
    EXPECT_EQ(rigs[0]->vertices(), 0u) << at;
    EXPECT_EQ(rigs[0]->size_bytes(), sample.bytes.size());
    ASSERT_TRUE(store->Get(sample.key).ok());
    EXPECT_EQ(store->List({}, "", 10, more)[0]->vertices(), 72u) << "known once it is parsed";
  }
}

TEST_P(RigFolder, FailedDeleteIsReported) {
  const Sample sample = MakeSample("a");
  const auto store = OpenStore();
  ASSERT_TRUE(store->Put(kCaller, sample.hex, sample.bytes, {}).ok());
  fs::remove(FileOf(sample));
  fs::create_directory(FileOf(sample));  // unlink refuses folders
  const absl::Status failed = store->Delete(sample.key);
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(failed.message().find(folder_.path().string()), std::string::npos) << failed;
  EXPECT_TRUE(store->Has(sample.key));
  fs::remove(FileOf(sample));
  Overwrite(FileOf(sample), sample.bytes);
  EXPECT_TRUE(store->Delete(sample.key).ok());
  EXPECT_TRUE(ListFiles(Folder("rigs")).empty());
}

// Files cannot grow beyond some bytes while it exists.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_P(RigFolder, FailedWriteLeavesNothing) {
  const Sample sample = MakeSample("a");
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  for (const rlim_t bytes : {rlim_t{0}, static_cast<rlim_t>(sample.bytes.size() - 1)}) {
    const FileSizeLimit limit(bytes);  // not even a summary; all but the last byte of the rig
    const absl::Status failed = store->Put(kCaller, sample.hex, sample.bytes, {}).status();
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(failed.message().find(folder_.path().string()), std::string::npos) << failed;
    EXPECT_TRUE(ListFiles(Folder("rigs")).empty());
    EXPECT_EQ(store->stored_bytes(), 0u);
    EXPECT_FALSE(uploads->Append(sender_, sample.header, 0, sample.bytes, now_).ok());
  }
  EXPECT_EQ(OpenStore()->count(), 0u);
  EXPECT_NE(uploads->Append(sender_, sample.header, 0, sample.bytes, now_)->rig, nullptr);
}

TEST_P(RigFolder, FullDiskLeavesNothing) {
  const fs::path disk = Folder("disk");
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "needs the right to mount";
  }
  config_.data_dir = disk.string();
  {
    const auto store = OpenStore();
    int stored = 0;
    absl::Status status;
    for (char label = 'a'; status.ok() && label <= 'z'; ++label, ++stored) {
      const Sample sample = MakeSample(std::string(1, label), {.rings = 20});
      status = store->Put(kCaller, sample.hex, sample.bytes, {}).status();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_TRUE(status.GetPayload("type.googleapis.com/google.rpc.RetryInfo").has_value());
    EXPECT_EQ(store->count(), static_cast<std::size_t>(stored - 1));
    EXPECT_EQ(ListFiles(disk / "rigs").size(), 2 * store->count());
    EXPECT_EQ(OpenStore()->count(), store->count());
  }
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_P(RigFolder, FilesArePrivate) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample a = MakeSample("a"), b = MakeSample("b");
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes, now_).ok());
  ASSERT_TRUE(uploads->Append(sender_, b.header, 0, "x", now_).ok());
  ASSERT_TRUE(store->Put(kAcme, b.hex, b.bytes, {}).ok());
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    const auto mode = static_cast<unsigned>(entry.status().permissions());
    EXPECT_EQ(mode, entry.is_directory() ? 0700u : 0600u) << entry.path();
    ++seen;
  }
  EXPECT_EQ(seen, 2 + 2 + 1 + 3 + 2);  // rigs, uploads; a; b.part; tenants/acme/rigs; b
}

TEST_P(RigFolder, SummaryWithoutRigIsRemoved) {
  const Sample sample = MakeSample("a");
  { ASSERT_TRUE(OpenStore()->Put(kCaller, sample.hex, sample.bytes, {}).ok()); }
  fs::remove(FileOf(sample));
  EXPECT_EQ(OpenStore()->count(), 0u);
  EXPECT_TRUE(ListFiles(Folder("rigs")).empty());
}

TEST(RigStore, UnusableFolderIsAnError) {
  RigConfig config;
  config.data_dir = "/proc/no/such/place";
  Metrics metrics{"0", "scalar"};
  EXPECT_EQ(RigStore::Open(config, 1, nullptr, metrics, QuietLog()).status().code(),
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
