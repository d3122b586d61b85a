#include "client/bake/files/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <utility>

#include "client/bake/base/errors.h"
#include "tests/support/temporary_folder.h"

namespace sinew::bake {
namespace {

using ::sinew::testing::ReadAll;
using ::sinew::testing::TemporaryFolder;
using ::sinew::testing::WriteAll;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OutputFile, NameIsAbsentUntilCommit) {
  const TemporaryFolder folder;
  auto file = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Write("hello ").ok());
  ASSERT_TRUE(file->Write("world").ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "a.bin"));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadAll(folder / "a.bin"), "hello world");
  EXPECT_THAT(folder.Names(), ElementsAre("a.bin"));
}

TEST(OutputFile, DroppedWithoutCommitLeavesNothing) {
  const TemporaryFolder folder;
  {
    auto file = OutputFile::Create(folder / "a.bin");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half").ok());
    auto moved = *std::move(file);
    ASSERT_TRUE(moved.Close().ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

// A process that is killed cannot remove its temporary file.
TEST(OutputFile, RemovesWhatKilledProcessesLeft) {
  const TemporaryFolder folder;
  const pid_t killed = ::fork();
  if (killed == 0) {
    auto file = OutputFile::Create(folder / "a.bin");
    const bool written = file.ok() && file->Write("half").ok();
    if (written) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(folder.Names().size(), 1u);
  WriteAll(folder / ".b.bin.1.0.part", "of another file");
  auto living = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(living.ok());
  EXPECT_EQ(folder.Names().size(), 2u) << "the dead one is gone";
  ASSERT_TRUE(living->Write("one").ok());
  ASSERT_TRUE(living->Close().ok());
  auto other = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(folder.Names().size(), 3u) << "the living one is not, closed or not";
  ASSERT_TRUE(living->Commit().ok());
  ASSERT_TRUE(other->Write("two").ok());
  ASSERT_TRUE(other->Commit().ok());
  EXPECT_EQ(ReadAll(folder / "a.bin"), "two");
  EXPECT_THAT(folder.Names(), ElementsAre(".b.bin.1.0.part", "a.bin"));
}

TEST(OutputFile, ReplacesOldContentOnCommit) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.bin", "a long old content");
  {
    auto dropped = OutputFile::Create(folder / "a.bin");
    ASSERT_TRUE(dropped->Write("new").ok());
  }
  EXPECT_EQ(ReadAll(folder / "a.bin"), "a long old content");
  auto file = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadAll(folder / "a.bin"), "new");
}

TEST(OutputFile, DanglingLinkWritesToItsTarget) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("later", folder / "link");
  std::filesystem::create_symlink("link", folder / "first");
  auto file = OutputFile::Create(folder / "first");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadAll(folder / "later"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_THAT(folder.Names(), ElementsAre("first", "later", "link"));
}

TEST(OutputFile, LoopOfLinksIsAnError) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  const absl::Status status = OutputFile::Create(folder / "a").status();
  EXPECT_TRUE(IsOutputError(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("symbolic links"));
  EXPECT_THAT(folder.Names(), ElementsAre("a", "b"));
}

TEST(OutputFile, ReplacedFileKeepsItsModeAndGroup) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.bin", "old");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((folder / "a.bin").c_str(), 0, 12345), 0);
  }
  ASSERT_EQ(::chmod((folder / "a.bin").c_str(), 0640), 0);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat((folder / "a.bin").c_str(), &before), 0);
  auto file = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Commit().ok());
  ASSERT_EQ(::stat((folder / "a.bin").c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_gid, before.st_gid);
}

TEST(OutputFile, NoOverwriteRejectsExistingFile) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.bin", "old");
  EXPECT_TRUE(IsOutputError(OutputFile::Create(folder / "a.bin", false).status()));
  // One that appears meanwhile is kept too.
  auto file = OutputFile::Create(folder / "b.bin", false);
  ASSERT_TRUE(file.ok());
  WriteAll(folder / "b.bin", "other content");
  EXPECT_TRUE(IsOutputError(file->Commit()));
  EXPECT_EQ(ReadAll(folder / "b.bin"), "other content");
}

TEST(OutputFile, ReadOnlyFileIsNotReplaced) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.bin", "old");
  std::filesystem::permissions(folder / "a.bin", std::filesystem::perms::owner_read);
  const auto file = OutputFile::Create(folder / "a.bin");
  ASSERT_FALSE(file.ok());
  EXPECT_TRUE(IsOutputError(file.status()));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("it is read-only"));
  EXPECT_THAT(folder.Names(), ElementsAre("a.bin"));
}

TEST(OutputFile, UnwritablePathIsRefusedWithItsName) {
  const TemporaryFolder folder;
  WriteAll(folder / "file", "");
  for (const std::string& path :
       {folder / "missing/a.bin", folder.path().string(), folder / "file/a.bin",
        folder.path().string() + "/", std::string("/dev/null"), std::string(),
        std::string("/proc/sinew.bin")}) {
    const auto file = OutputFile::Create(path);
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_TRUE(IsOutputError(file.status())) << path;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
  }
  EXPECT_THAT(folder.Names(), ElementsAre("file"));
}

constexpr int kRefused = 3;

// Writes more than a file-size limit allows, which stands in for a full disk, and ends the process.
[[noreturn]] void WriteOnFullDisk(const std::string& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
  setrlimit(RLIMIT_FSIZE, &limit);
  bool refused = false;
  {
    auto file = OutputFile::Create(path);
    refused = IsOutputError(file->Write(std::string(5000, 'x')));
  }
  _exit(refused ? kRefused : 0);
}

TEST(OutputFile, FullDiskKeepsOldFile) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.bin", "old");
  EXPECT_EXIT(WriteOnFullDisk(folder / "a.bin"), ::testing::ExitedWithCode(kRefused), "");
  EXPECT_EQ(ReadAll(folder / "a.bin"), "old");
  EXPECT_THAT(folder.Names(), ElementsAre("a.bin"));
}

TEST(OutputFile, FollowsLinks) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  WriteAll(folder / "real/a.bin", "old");
  std::filesystem::create_symlink("real/a.bin", folder / "link.bin");
  auto file = OutputFile::Create(folder / "link.bin");
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.bin"));
  EXPECT_EQ(ReadAll(folder / "real/a.bin"), "new");
}

TEST(OutputFile, RemoveTemporaryFilesRemovesOpenFiles) {
  const TemporaryFolder folder;
  auto one = OutputFile::Create(folder / "a.bin");
  auto two = OutputFile::Create(folder / "a.bin");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(folder.Names().size(), 2U);
  RemoveTemporaryFiles();
  EXPECT_THAT(folder.Names(), IsEmpty());
}

}  // namespace
}  // namespace sinew::bake
