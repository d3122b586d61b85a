#include "client/bake/formats/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/unit/client/bake/formats/bytes.h"

namespace sinew::bake {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Raw;

// A file of the given version with the header `text` and `data`.
std::string File(const std::string& text, const std::string& data, char major = 1) {
  std::string file = Raw("\x93NUMPY") + major + '\0' + static_cast<char>(text.size()) + '\0';
  if (major == 2) file += Raw("\0\0");
  return file + text + data;
}

std::string Header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

template <class T>
std::string Values(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return std::string(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
}

std::string PoseMessage(const std::string& file) {
  const auto poses = ReadPosesNpy(Bytes(file));
  if (poses.ok()) return "accepted";
  EXPECT_EQ(poses.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(poses.status().message());
}

TEST(ReadPosesNpy, AcceptsBothShapesAndTypes) {
  const std::string files[] = {
      File(Header("<f4", "(2, 1, 12)"), Values<float>(24)),
      File(Header("<f8", "(2, 1, 12)"), Values<double>(24)),
      File(Header("<f4", "(2, 1, 3, 4)"), Values<float>(24)),
      File(Header("<f8", "(2, 1, 3, 4)"), Values<double>(24), 2),
      File("{\"shape\":(2,1,12),\"fortran_order\":False,\"descr\":\"<f4\"}", Values<float>(24)),
  };
  for (const std::string& file : files) {
    const auto poses = ReadPosesNpy(Bytes(file));
    ASSERT_TRUE(poses.ok()) << poses.status();
    EXPECT_EQ(poses->frames, 2u);
    EXPECT_EQ(poses->joints, 1u);
    ASSERT_EQ(poses->values.size(), 24u);
    EXPECT_EQ(poses->values.front(), 1);
    EXPECT_EQ(poses->values.back(), 24);
  }
}

TEST(ReadPosesNpy, KeepsNonFiniteValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(12, std::numeric_limits<double>::infinity());
  values[3] = nan;
  const std::string data(reinterpret_cast<const char*>(values.data()), 96);
  const auto poses = ReadPosesNpy(Bytes(File(Header("<f8", "(1, 1, 12)"), data)));
  ASSERT_TRUE(poses.ok()) << poses.status();
  EXPECT_TRUE(std::isnan(poses->values[3]));
  EXPECT_TRUE(std::isinf(poses->values[4]));
}

TEST(ReadPosesNpy, RejectsDoublesOutsideFloatRange) {
  std::vector<double> values(12, 1.0);
  values[7] = -1e300;
  const std::string data(reinterpret_cast<const char*>(values.data()), 96);
  EXPECT_THAT(PoseMessage(File(Header("<f8", "(1, 1, 12)"), data)), HasSubstr("value 7"));
}

TEST(ReadPosesNpy, RejectsBadFiles) {
  const std::string data = Values<float>(12);
  const struct {
    std::string file;
    const char* says;
  } table[] = {
      {"", "NUMPY"},
      {"NUMPY and more", "NUMPY"},
      {File(Header("<f4", "(1, 1, 12)"), data, 3), "version: 3.0"},
      {File(Header(">f4", "(1, 1, 12)"), data), "'>f4'"},
      {File(Header("<i4", "(1, 1, 12)"), data), "'<i4'"},
      {File(Header("|O", "(1, 1, 12)"), data), "'|O'"},
      {File("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 12), }", data), "C order"},
      {File("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1, 12), }", data), "True or"},
      {File("{'descr': '<f4', 'shape': (1, 1, 12), }", data), "fortran_order"},
      {File("{'descr': '<f4', 'descr': '<f4', 'shape': (1, 1, 12), }", data), "duplicate key"},
      {File("{'descr': '<f4', 'more': 1}", data), "shape"},
      {File("{'descr': '<f4' 'fortran_order': False}", data), "comma"},
      {File("{'descr", data), "quoted key"},
      {File("", data), "dictionary"},
      {File(Header("<f4", "(1, 1, 12)") + "x", data), "after the dictionary"},
      {File(Header("<f4", "(1, 1, -12)"), data), "whole numbers"},
      {File(Header("<f4", "(1, 1, 12"), data), "whole numbers"},
      {File(Header("<f4", "(99999999999999999999, 1, 12)"), data), "whole numbers"},
      {File(Header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 12)"), data), "at most 8"},
      {File(Header("<f4", "(4611686018427387904, 4, 12)"), ""), "need exactly"},
      {File(Header("<f4", "(2, 1, 12)"), data), "need exactly"},
      {File(Header("<f4", "(1, 1, 12)"), data + "x"), "need exactly"},
      {File(Header("<f4", "(0, 1, 12)"), ""), "shape: (0, 1, 12)"},
      {File(Header("<f4", "(1, 12)"), data), "shape: (1, 12)"},
      {File(Header("<f4", "(1, 4, 3)"), data), "shape: (1, 4, 3)"},
      {File(Header("<f4", "()"), Values<float>(1)), "shape: ()"},
  };
  for (const auto& row : table) EXPECT_THAT(PoseMessage(row.file), HasSubstr(row.says));
}

TEST(ReadPosesNpy, RejectsEveryTruncation) {
  for (char version : {'\x01', '\x02'}) {
    const std::string file = File(Header("<f4", "(1, 1, 12)"), Values<float>(12), version);
    ASSERT_EQ(PoseMessage(file), "accepted");
    for (std::size_t size = 0; size < file.size(); ++size) {
      const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(ReadPosesNpy(std::as_bytes(std::span(cut))).ok()) << size;
    }
  }
}

TEST(EncodeNpy, IsReadBack) {
  const std::vector<float> values = {0, 1.5F, -2, 3e38F, 4, 5};
  const std::uint64_t shape[] = {2, 3};
  const std::string bytes = EncodeNpy(shape, values);
  const auto controls = ReadControlsNpy(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(controls.ok()) << controls.status();
  EXPECT_EQ(controls->frames, 2u);
  EXPECT_EQ(controls->controls, 3u);
  EXPECT_EQ(controls->values, values);
}

TEST(ReadControlsNpy, RejectsOtherShapes) {
  for (const std::vector<std::uint64_t>& shape :
       std::vector<std::vector<std::uint64_t>>{{6}, {1, 2, 3}, {0, 3}, {2, 0}}) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    const std::string bytes = EncodeNpy(shape, std::vector<float>(count));
    EXPECT_EQ(ReadControlsNpy(std::as_bytes(std::span(bytes))).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(EncodeNpyHeader, PadsTo64Bytes) {
  for (std::uint32_t count : {1u, 12345u, 0x7fffffffu}) {
    EXPECT_EQ(EncodeNpyHeader({.frames = count, .vertices = count})->size() % 64, 0u);
  }
}

}  // namespace
}  // namespace sinew::bake
