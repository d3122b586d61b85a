#include "server/store/data_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "server/store/rig_files.h"
#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

absl::Status Open(const testing::TemporaryFolder& folder) {
  return OpenDataFolder(folder.path(), std::make_shared<spdlog::logger>("test")).status();
}

TEST(DataFolder, NewFolderHasCurrentFormat) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(Open(folder).ok());
  EXPECT_EQ(testing::ReadAll(folder / "format"), "2\n");
  EXPECT_TRUE(Open(folder).ok());
}

TEST(DataFolder, UnknownFormatIsRefused) {
  for (const char* text : {"3\n", "0\n", "", "two", "99999999999999999999\n"}) {
    const testing::TemporaryFolder folder;
    testing::WriteAll(folder / "format", text);
    EXPECT_EQ(Open(folder).code(), absl::StatusCode::kFailedPrecondition) << text;
    EXPECT_EQ(testing::ReadAll(folder / "format"), text);
  }
}

TEST(DataFolder, FormatOneIsMigrated) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"rigs", "uploads"}) std::filesystem::create_directory(folder / name);
  v1::RigSummary summary;
  summary.set_name("rigs/sha256-x");
  const std::string path = folder / "rigs/sha256-x.sinewrig.summary";
  testing::WriteAll(path, summary.SerializeAsString());
  testing::WriteAll(folder / "rigs/sha256-y.sinewrig.summary", "damaged");
  testing::WriteAll(folder / "uploads/x-10.part", "half");
  for (int run = 0; run < 2; ++run) {  // as if the first had been interrupted
    EXPECT_TRUE(Open(folder).ok());
    const auto read = RigFiles::DecodeSummary(testing::ReadAll(path));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->name(), summary.name());
    EXPECT_FALSE(std::filesystem::exists(folder / "uploads/x-10.part"));
    struct stat facts {};
    EXPECT_EQ(::stat((folder / "rigs").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777u, 0700u);
    std::filesystem::remove(folder / "format");
  }
}

}  // namespace
}  // namespace sinew::server
