// The table of formats in client/docs/formats.md: every entry is shown by a small file.
//
// Entries of OpenUSD are shown by tests/usd/read_test.py.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/support/paths.h"
#include "tests/unit/client/import/format_table.h"

namespace sinew::client {
namespace {

std::vector<Entry> Wavefront() {
  const auto square = [] {
    return Import(".obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 4 1 2 3\n",
                  {.allow_no_skin = true});
  };
  return {{"vertex order of the file", "OBJ", "read",
           [=] {
             const auto scene = square();
             return ReadIf(scene.ok() && scene->rig.meshes.at(0).positions[9] == 0 &&
                           scene->rig.meshes.at(0).positions[10] == 1);
           }},
          {"polygons of any size", "OBJ", "read", [=] {
             const auto scene = square();
             return ReadIf(scene.ok() && scene->rig.meshes.at(0).face_vertices ==
                                             std::vector<std::uint32_t>({3, 0, 1, 2}));
           }}};
}

std::vector<Entry> Entries() {
  std::vector<Entry> all = GltfEntries();
  for (auto* more : {&ColladaEntries, &Wavefront}) {
    for (Entry& entry : (*more)()) all.push_back(std::move(entry));
  }
#ifdef SINEW_READS_FBX
  for (Entry& entry : FbxEntries()) all.push_back(std::move(entry));
#endif
  return all;
}

class FormatTable : public ::testing::TestWithParam<Entry> {};

TEST_P(FormatTable, Says) {
  EXPECT_EQ(GetParam().show(), GetParam().state);
}

std::string NameOf(const Entry& entry) {
  std::string name = absl::StrCat(entry.format, "_", entry.feature);
  for (char& c : name) c = absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Entries, FormatTable, ::testing::ValuesIn(Entries()),
                         [](const auto& test) { return NameOf(test.param); });

TEST(FormatTable, EveryEntryIsShown) {
  std::ifstream in(testing::SourceFolder() / "client/docs/formats.md");
  std::vector<std::string> columns;
  std::set<std::string> documented, shown;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    if (cells.size() == 8 && cells[1] == "feature") {
      columns = cells;
    } else if (!columns.empty() && cells.size() != 8) {
      break;
    } else if (!columns.empty() && cells[1] != "---") {
      for (std::size_t c = 2; c < 7; ++c) {
        if (cells[c] == "-" || columns[c] == "OpenUSD") continue;
        documented.insert(absl::StrCat(cells[1], ", ", columns[c], ": ", cells[c]));
      }
    }
  }
  for (const Entry& entry : Entries()) {
    shown.insert(absl::StrCat(entry.feature, ", ", entry.format, ": ", entry.state));
  }
#ifndef SINEW_READS_FBX
  std::erase_if(documented, [](const auto& entry) { return absl::StrContains(entry, ", FBX: "); });
#endif
  EXPECT_EQ(documented, shown);
}

}  // namespace
}  // namespace sinew::client
