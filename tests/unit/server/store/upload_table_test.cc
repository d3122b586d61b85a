#include "server/store/upload_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/base/status.h"
#include "tests/support/wait_until.h"
#include "tests/unit/server/store/store_fixture.h"

namespace sinew::server {
namespace {

class UploadTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Places, UploadTest, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "Disk" : "Memory"; });

TEST_P(UploadTest, UploadsGrowAndFinish) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 0u);
  const std::string_view bytes = sample.bytes;
  EXPECT_EQ(uploads->Append(sender_, sample.header, 0, bytes.substr(0, 100), now_)->committed,
            100u);
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 100u);
  // A gap is refused, an overlap is passed over.
  EXPECT_EQ(
      uploads->Append(sender_, sample.header, 101, bytes.substr(101, 5), now_).status().code(),
      absl::StatusCode::kOutOfRange);
  EXPECT_EQ(uploads->Append(sender_, sample.header, 50, bytes.substr(50, 20), now_)->committed,
            100u);
  EXPECT_EQ(uploads->Append(sender_, sample.header, 50, bytes.substr(50, 100), now_)->committed,
            150u);
  const auto done = uploads->Append(sender_, sample.header, 150, bytes.substr(150), now_);
  ASSERT_TRUE(done.ok()) << done.status();
  ASSERT_NE(done->rig, nullptr);
  EXPECT_EQ(store->Read(sample.key, 0, 1 << 20)->bytes, sample.bytes);
  EXPECT_NE(uploads->Query(kCaller, sample.header)->rig, nullptr);
  EXPECT_NE(uploads->Append(sender_, sample.header, 0, bytes, now_)->rig, nullptr);
}

TEST_P(UploadTest, RejectsAndDropsWrongUploads) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  Sample sample = MakeSample("a");
  std::string changed = sample.bytes;
  changed[changed.size() / 2] ^= 1;
  EXPECT_EQ(uploads->Append(sender_, sample.header, 0, changed, now_).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 0u);
  EXPECT_EQ(uploads->Append(sender_, sample.header, 0, sample.bytes + "x", now_).status().code(),
            absl::StatusCode::kOutOfRange);
  v1::UploadHeader junk;
  junk.set_sha256(Sha256Hex("junk"));
  junk.set_size_bytes(4);
  EXPECT_EQ(uploads->Append(sender_, junk, 0, "junk", now_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(uploads->Append(sender_, sample.header, 0, sample.bytes, now_).ok());
}

TEST_P(UploadTest, WrongHeaderErrorsNameField) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  v1::UploadHeader header = MakeSample("a").header;
  for (const std::string& digest :
       {std::string(), std::string("abc"), std::string(64, 'G'), std::string(64, 'A'),
        std::string(65, 'a'), "../" + std::string(61, 'a')}) {
    header.set_sha256(digest);
    EXPECT_EQ(FieldOf(uploads->Query(kCaller, header).status()), "header.sha256") << digest;
  }
  header = MakeSample("a").header;
  header.set_size_bytes(0);
  EXPECT_EQ(FieldOf(uploads->Query(kCaller, header).status()), "header.size_bytes");
}

TEST_P(UploadTest, UploadLimitsAreExact) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.bytes = a.bytes.size();
  const auto store = OpenStore();
  v1::UploadHeader large = a.header;
  large.set_size_bytes(config_.bytes + 1);
  EXPECT_TRUE(OpenUploads(*store)->Query(kCaller, a.header).ok());
  EXPECT_EQ(OpenUploads(*store)->Query(kCaller, large).status().code(),
            absl::StatusCode::kResourceExhausted);
  const auto second_begins = [&] {
    std::filesystem::remove_all(Folder("uploads"));
    const auto uploads = OpenUploads(*store);
    EXPECT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes.substr(0, 1), now_).ok());
    const auto status = uploads->Append(sender_, b.header, 0, b.bytes.substr(0, 1), now_).status();
    if (!status.ok()) {
      EXPECT_EQ(ReasonOf(status), v1::REASON_LIMIT) << status;
    }
    return status.ok();
  };
  config_.uploads = 1;
  EXPECT_FALSE(second_begins());
  config_.uploads = 2;
  config_.upload_bytes = a.bytes.size() + b.bytes.size() - 1;
  EXPECT_FALSE(second_begins());
  ++config_.upload_bytes;
  EXPECT_TRUE(second_begins());
}

TEST_P(UploadTest, NewUploadReplacesIdleOne) {
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  config_.uploads = 2;
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes.substr(0, 100), now_).ok());
  ASSERT_TRUE(
      uploads->Append(sender_, b.header, 0, b.bytes.substr(0, 50), now_ + std::chrono::seconds(1))
          .ok());
  const auto later = now_ + std::chrono::seconds(30);
  ASSERT_TRUE(uploads->Append(sender_, c.header, 0, c.bytes.substr(0, 10), later).ok());
  EXPECT_EQ(uploads->Query(kCaller, a.header)->committed, 0u);
  EXPECT_EQ(uploads->Query(kCaller, b.header)->committed, 50u);
  EXPECT_EQ(uploads->Query(kCaller, c.header)->committed, 10u);
  if (GetParam()) {
    EXPECT_EQ(ListFiles(Folder("uploads")).size(), 2u);
  }
  EXPECT_NE(uploads->Append(sender_, b.header, 50, b.bytes.substr(50), later)->rig, nullptr);
}

// Whether the thread sleeps, for instance in a system call that waits.
bool Sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 4, ") S ") == 0;
}

TEST_P(UploadTest, BusyUploadStaysAndDelaysNoOther) {
  if (!GetParam()) GTEST_SKIP() << "writing to memory does not wait";
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  config_.uploads = 2;
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes.substr(0, 100), now_).ok());
  // Opening a FIFO for writing waits for a reader: a disk that is very slow.
  const std::filesystem::path part = Folder("uploads") / ListFiles(Folder("uploads")).at(0).name;
  std::filesystem::remove(part);
  ASSERT_EQ(::mkfifo(part.c_str(), 0600), 0);
  std::atomic<pid_t> writer = 0;
  std::thread writing([&] {
    writer = ::gettid();
    (void)uploads->Append(sender_, a.header, 100, a.bytes.substr(100, 10), now_);
  });
  testing::WaitUntil([&] { return writer != 0 && Sleeps(writer); });
  const auto second = now_ + std::chrono::seconds(1), later = now_ + std::chrono::seconds(30);
  ASSERT_TRUE(uploads->Append(sender_, b.header, 0, b.bytes.substr(0, 50), second).ok());
  EXPECT_TRUE(uploads->Append(sender_, c.header, 0, c.bytes.substr(0, 10), later).ok());
  EXPECT_EQ(uploads->Query(kCaller, a.header)->committed, 100u);
  EXPECT_EQ(uploads->Query(kCaller, b.header)->committed, 0u) << "the idle one makes room";
  uploads->Expire(later + std::chrono::seconds(1 + static_cast<long>(config_.upload_seconds)));
  EXPECT_EQ(uploads->Query(kCaller, a.header)->committed, 100u);
  EXPECT_EQ(uploads->Query(kCaller, c.header)->committed, 0u);
  const int reader = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  writing.join();
  ::close(reader);
}

TEST_P(UploadTest, UnfinishedUploadsExpire) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  ASSERT_TRUE(uploads->Append(sender_, sample.header, 0, sample.bytes.substr(0, 100), now_).ok());
  const std::chrono::seconds limit(static_cast<long>(config_.upload_seconds));
  uploads->Expire(now_ + limit);
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 100u);
  uploads->Expire(now_ + limit + std::chrono::seconds(1));
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 0u);
  EXPECT_TRUE(ListFiles(Folder("uploads")).empty());
}

TEST_P(UploadTest, SendersOfSameRigShareUpload) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      for (std::size_t at = 0; at < sample.bytes.size(); at += 64) {
        const auto progress =
            uploads->Append(sender_, sample.header, at, sample.bytes.substr(at, 64), now_);
        // The last piece of another sender may come in between.
        EXPECT_TRUE(progress.ok() || absl::IsUnavailable(progress.status())) << progress.status();
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(store->Read(sample.key, 0, 1 << 20)->bytes, sample.bytes);
}

TEST_P(UploadTest, BytesOfOthersNeverSpoilUpload) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  const Caller other_tenant{.peer = kCaller.peer, .tenant = "acme", .principal = {}};
  const Caller other_user{.peer = kCaller.peer, .tenant = {}, .principal = "eve"};
  for (const Caller& caller : {kOther, other_tenant, other_user}) {
    const auto sender = UploadTable::NewSender(caller);
    ASSERT_TRUE(uploads->Append(sender, sample.header, 0, "wrong", now_).ok());
  }
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 0u);
  EXPECT_NE(uploads->Append(sender_, sample.header, 0, sample.bytes, now_)->rig, nullptr);
}

TEST_P(UploadTest, OwnEarlierBytesMayBeSentAgain) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  ASSERT_TRUE(uploads->Append(sender_, sample.header, 0, "wrong", now_).ok());
  const auto resumed = UploadTable::NewSender(kCaller);
  EXPECT_EQ(
      uploads->Append(resumed, sample.header, 5, sample.bytes.substr(5), now_).status().code(),
      absl::StatusCode::kAborted);
  EXPECT_EQ(uploads->Query(kCaller, sample.header)->committed, 0u);
  std::string changed = sample.bytes;
  changed.back() ^= 1;
  EXPECT_EQ(uploads->Append(resumed, sample.header, 0, changed, now_).status().code(),
            absl::StatusCode::kDataLoss)
      << "all of it was sent by this call";
  EXPECT_NE(uploads->Append(resumed, sample.header, 0, sample.bytes, now_)->rig, nullptr);
}

TEST_P(UploadTest, DigestOfAnotherTenantRevealsNothing) {
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const Sample sample = MakeSample("a");
  ASSERT_NE(uploads->Append(sender_, sample.header, 0, sample.bytes, now_)->rig, nullptr);
  const auto sender = UploadTable::NewSender(kAcme);
  const auto asked = uploads->Query(kAcme, sample.header);
  EXPECT_EQ(asked->committed, 0u);
  EXPECT_EQ(asked->rig, nullptr);
  EXPECT_EQ(uploads->Append(sender, sample.header, 1, sample.bytes.substr(1), now_).status().code(),
            absl::StatusCode::kOutOfRange)
      << "every byte must be sent";
  EXPECT_NE(uploads->Append(sender, sample.header, 0, sample.bytes, now_)->rig, nullptr);
  EXPECT_EQ(store->count(), 2u);
}

TEST_P(UploadTest, FullStoreRefusesHeader) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.stored_bytes = a.bytes.size() + b.bytes.size();
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes, now_).ok());
  v1::UploadHeader header = b.header;
  EXPECT_TRUE(uploads->Query(kCaller, header).ok());
  header.set_size_bytes(b.bytes.size() + 1);
  const absl::Status full = uploads->Query(kCaller, header).status();
  EXPECT_EQ(ReasonOf(full), v1::REASON_LIMIT) << full;
  EXPECT_NE(full.message().find("max-stored-bytes"), std::string::npos) << full;
  EXPECT_TRUE(uploads->Query(kCaller, a.header).ok()) << "it is stored already";
}

TEST_P(UploadTest, OneClientLeavesRoomForOthers) {
  const Sample a = MakeSample("a"), b = MakeSample("b"), c = MakeSample("c");
  share_ = 0.5;
  config_.uploads = 4;
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const auto other = UploadTable::NewSender(kOther);
  for (const Sample& sample : {a, b}) {
    ASSERT_TRUE(uploads->Append(sender_, sample.header, 0, "x", now_).ok());
  }
  EXPECT_EQ(ReasonOf(uploads->Append(sender_, c.header, 0, "x", now_).status()), v1::REASON_LIMIT);
  EXPECT_TRUE(uploads->Append(other, c.header, 0, "x", now_).ok());
  // Its own idle uploads give way, not those of others.
  const auto later = now_ + std::chrono::seconds(30);
  EXPECT_TRUE(uploads->Append(sender_, c.header, 0, "x", later).ok());
  EXPECT_EQ(uploads->Query(kOther, c.header)->committed, 1u);
}

TEST_P(UploadTest, UploadThatNeverFitsDropsNoOther) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  share_ = 0.2;
  config_.upload_bytes = 4 * a.bytes.size();  // of which one client has less than one rig
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  const std::string small = "x";
  v1::UploadHeader tiny = a.header;
  tiny.set_sha256(Sha256Hex(small));
  tiny.set_size_bytes(2);
  ASSERT_TRUE(uploads->Append(sender_, tiny, 0, small, now_).ok());
  const auto later = now_ + std::chrono::seconds(30);
  const auto other = UploadTable::NewSender(kOther);
  EXPECT_EQ(ReasonOf(uploads->Append(other, b.header, 0, "x", later).status()), v1::REASON_LIMIT);
  EXPECT_EQ(uploads->Query(kCaller, tiny)->committed, 1u);
}

TEST_P(UploadTest, OthersMakeRoomInAFullTable) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.uploads = 1;
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, "x", now_).ok());
  const auto other = UploadTable::NewSender(kOther);
  EXPECT_EQ(ReasonOf(uploads->Append(other, b.header, 0, "x", now_).status()), v1::REASON_LIMIT);
  const auto later = now_ + std::chrono::seconds(30);
  EXPECT_TRUE(uploads->Append(other, b.header, 0, "x", later).ok());
  EXPECT_EQ(uploads->Query(kCaller, a.header)->committed, 0u);
}

class UploadFolder : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Places, UploadFolder, ::testing::Values(true));

TEST_P(UploadFolder, OutlivesStore) {
  const Sample whole = MakeSample("a"), half = MakeSample("b");
  {
    const auto store = OpenStore();
    const auto uploads = OpenUploads(*store);
    ASSERT_TRUE(uploads->Append(sender_, whole.header, 0, whole.bytes, now_).ok());
    ASSERT_TRUE(uploads->Append(sender_, half.header, 0, half.bytes.substr(0, 99), now_).ok());
  }
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  EXPECT_EQ(store->Read(whole.key, 0, 1 << 20)->bytes, whole.bytes);
  EXPECT_TRUE(store->Get(whole.key).ok());
  bool more = false;
  EXPECT_EQ(store->List({}, "", 10, more)[0]->vertices(), 72u);
  EXPECT_EQ(uploads->Query(kCaller, half.header)->committed, 99u);
  const auto done = uploads->Append(sender_, half.header, 99, half.bytes.substr(99), now_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_NE(done->rig, nullptr);
  EXPECT_TRUE(ListFiles(Folder("uploads")).empty());
}

TEST_P(UploadFolder, UploadKilledAfterLastByteFinishes) {
  const Sample good = MakeSample("a"), damaged = MakeSample("b");
  const auto store = OpenStore();
  {
    const auto uploads = OpenUploads(*store);
    for (const Sample& sample : {good, damaged}) {
      std::string most = sample.bytes.substr(0, sample.bytes.size() - 1);
      if (sample.hex == damaged.hex) most[0] ^= 1;
      ASSERT_TRUE(uploads->Append(sender_, sample.header, 0, most, now_).ok());
    }
  }
  for (const FileFacts& file : ListFiles(Folder("uploads"))) {
    const Sample& sample = file.name.starts_with(good.hex) ? good : damaged;
    std::ofstream(Folder("uploads") / file.name, std::ios::binary | std::ios::app)
        << sample.bytes.back();
  }
  const auto uploads = OpenUploads(*store);
  EXPECT_EQ(uploads->Query(kCaller, good.header)->committed, good.bytes.size());
  const auto done = uploads->Append(sender_, good.header, 0, "", now_);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_NE(done->rig, nullptr);
  EXPECT_EQ(store->Read(good.key, 0, 1 << 20)->bytes, good.bytes);
  EXPECT_EQ(uploads->Append(sender_, damaged.header, 0, "", now_).status().code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(uploads->Append(sender_, damaged.header, 0, "", now_)->committed, 0u);
  EXPECT_TRUE(ListFiles(Folder("uploads")).empty());
}

TEST_P(UploadFolder, UploadThatCannotBeWrittenIsDropped) {
  const Sample a = MakeSample("a"), b = MakeSample("b");
  config_.uploads = 1;
  const auto store = OpenStore();
  const auto uploads = OpenUploads(*store);
  ASSERT_TRUE(uploads->Append(sender_, a.header, 0, a.bytes.substr(0, 10), now_).ok());
  // A folder in the place of the file: the next bytes cannot be written.
  const std::filesystem::path part = *std::filesystem::directory_iterator(Folder("uploads"));
  std::filesystem::remove(part);
  std::filesystem::create_directory(part);
  EXPECT_EQ(uploads->Append(sender_, a.header, 10, a.bytes.substr(10, 10), now_).status().code(),
            absl::StatusCode::kInternal);
  EXPECT_TRUE(std::filesystem::is_empty(Folder("uploads")));
  EXPECT_EQ(uploads->Query(kCaller, a.header)->committed, 0u);
  EXPECT_TRUE(uploads->Append(sender_, b.header, 0, b.bytes, now_).ok()) << "its place is free";
}

}  // namespace
}  // namespace sinew::server
