#include "core/base/table_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sinew {
namespace {

std::string Sample() {
  TableWriter writer;
  std::vector<std::uint32_t> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 7u);
  writer.Add("numbers", numbers);
  writer.Add("empty", std::vector<double>{});
  writer.Add("halves", std::vector<double>{0.5, 1.5});
  return writer.Finish();
}

TEST(TableIo, RoundTripsTables) {
  const std::string file = Sample();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->Tables().size(), 3u);
  std::vector<std::uint32_t> numbers;
  ASSERT_TRUE(reader->Read("numbers", numbers).ok());
  EXPECT_EQ(numbers.size(), 100u);
  EXPECT_EQ(numbers.back(), 106u);
  std::vector<double> values = {1};
  ASSERT_TRUE(reader->Read("empty", values).ok());
  EXPECT_TRUE(values.empty());
  ASSERT_TRUE(reader->Read("halves", values).ok());
  EXPECT_EQ(values, (std::vector<double>{0.5, 1.5}));
}

TEST(TableIo, RejectsMissingTableAndWrongElementSize) {
  const std::string file = Sample();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok());
  std::vector<std::uint16_t> shorts;
  EXPECT_EQ(reader->Read("numbers", shorts).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(reader->Read("nothing", shorts).code(), absl::StatusCode::kDataLoss);
}

TEST(TableIo, ChecksumByPiecesEqualsThatOfWhole) {
  const std::string file = Sample();
  const auto matches = [](std::string_view bytes, std::size_t piece) {
    TableChecksum checksum;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      checksum.Update(bytes.substr(at, piece));
    }
    return checksum.Matches();
  };
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{64}, file.size()}) {
    EXPECT_TRUE(matches(file, piece)) << piece;
    EXPECT_FALSE(matches(file + "x", piece)) << piece;
    for (std::size_t at = 0; at < file.size(); ++at) {
      std::string changed = file;
      changed[at] ^= 1;
      EXPECT_EQ(matches(changed, piece), TableReader::Open(changed).ok()) << at;
      EXPECT_FALSE(matches(std::string_view(file).substr(0, at), piece)) << at;
    }
  }
}

TEST(TableIo, RejectsEveryTruncation) {
  const std::string file = Sample();
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_EQ(TableReader::Open(std::string_view(file).substr(0, n)).status().code(),
              absl::StatusCode::kDataLoss)
        << n;
  }
  EXPECT_FALSE(TableReader::Open(file + std::string(64, '\0')).ok());
}

TEST(TableIo, RejectsEveryChangedByte) {
  const std::string file = Sample();
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string bad = file;
    bad[i] = static_cast<char>(bad[i] ^ 0x20);
    EXPECT_FALSE(TableReader::Open(bad).ok()) << "byte " << i;
  }
}

// The checksum is no protection against a file that was made on purpose.
TEST(TableIo, RejectsTablesThatShareBytes) {
  constexpr std::size_t kHeader = 64, kEntry = 128, kChecksum = 32, kOffset = 112;
  std::string file = Sample();
  file.replace(kHeader + 2 * kEntry + kOffset, 8, file, kHeader + kOffset, 8);
  std::memset(&file[kChecksum], 0, 8);
  const std::uint64_t checksum =
      XXH3_64bits_withSeed(&file[kHeader], file.size() - kHeader, XXH3_64bits(&file[0], kHeader));
  std::memcpy(&file[kChecksum], &checksum, 8);
  const auto status = TableReader::Open(file).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), testing::HasSubstr("overlaps another"));
}

}  // namespace
}  // namespace sinew
