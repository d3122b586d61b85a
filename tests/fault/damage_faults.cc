// Files of the data folder that change: bit flips, truncation, other lengths, and files of one kind
// that are swapped; while the server runs, or between two of its runs.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/ledger.h"
#include "tests/fault/restartable_server.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipes[] = {"lbs", "ddm"};
constexpr std::size_t kRigs = 6;

class Damage {
 public:
  Damage(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite),
        undisturbed_(undisturbed),
        dice_(suite.Dice("damage")),
        ledger_(suite),
        server_(suite, folder_.path()) {}

  void Run() {
    for (std::size_t i = 0; i < kRigs; ++i) {
      const Motion& motion = undisturbed_.Get(SizeOf(i), "lbs");
      bytes_.push_back(LabelledRig(motion.rig, absl::StrCat("damaged ", i)));
      suite_.Need(ledger_.Upload(server_.Client(), bytes_.back()), "upload");
    }
    CheckFrames({});
    for (std::uint64_t i = 0; i < 3 * suite_.Repeats() && suite_.MayContinue(); ++i) Round();
  }

 private:
  static Size SizeOf(std::size_t rig) { return rig % 2 == 0 ? Size::kSmall : Size::kMedium; }

  void Round() {
    const bool running = dice_.Below(2) == 0;
    suite_.Step(running ? "damage under the server" : "damage between two runs");
    BeginUpload();
    if (!running) server_.Kill();
    std::set<std::string> damaged;
    for (std::uint32_t i = 0, files = 1 + dice_.Below(4); i < files; ++i) DamageOne(damaged);
    for (const std::string& name : damaged) {
      if (ledger_.IsStored(name)) ledger_.Damaged(name);
    }
    if (!running) server_.Start();
    // In some rounds frames are the first to meet the damage.
    if (dice_.Below(2) == 0) CheckFrames(damaged);
    ledger_.Check(server_.Client());
    for (const std::string& bytes : bytes_) {
      if (ledger_.IsStored(client::RigName(bytes))) continue;
      suite_.Need(ledger_.Upload(server_.Client(), bytes), "upload of a damaged rig");
      suite_.Checked("damaged rigs uploaded again");
    }
    FinishUpload();
    CheckFrames({});
    ledger_.Check(server_.Client());
  }

  // An upload that is broken off leaves a part.
  void BeginUpload() {
    begun_ =
        LabelledRig(undisturbed_.Get(Size::kLarge, "lbs").rig, absl::StrCat("part ", ++parts_));
    std::stop_source stop;
    const auto status = server_.Client().UploadRig(begun_,
                                                   [&](std::uint64_t held, std::uint64_t size) {
                                                     if (held > size / 2) stop.request_stop();
                                                   },
                                                   {.stop = stop.get_token()});
    ledger_.Uploading(begun_);
    if (status.ok()) ledger_.Stored(client::RigName(begun_));
  }
  void FinishUpload() {
    suite_.Need(ledger_.Upload(server_.Client(), begun_), "upload behind a part");
    suite_.Need(ledger_.Delete(server_.Client(), client::RigName(begun_)), "delete");
    suite_.Checked("uploads continued behind a part that may be damaged");
  }

  std::vector<fs::path> Files(const char* folder, const std::string& suffix) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path() / folder)) {
      if (absl::EndsWith(entry.path().string(), suffix)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void DamageOne(std::set<std::string>& damaged) {
    struct Kind {
      const char *folder, *suffix;
    };
    constexpr Kind kKinds[] = {{"rigs", ".sinewrig"},
                               {"rigs", ".summary"},
                               {"bound", ".bound"},
                               {"bound", ".bound"},
                               {"uploads", ".part"}};
    const Kind& kind = kKinds[dice_.Below(5)];
    const std::vector<fs::path> files = Files(kind.folder, kind.suffix);
    if (files.empty()) return;
    const auto choose = [&] {
      return files[dice_.Below(static_cast<std::uint32_t>(files.size()))];
    };
    const fs::path path = choose(), other = choose();
    const auto note = [&](const fs::path& file) {
      if (std::string(kind.suffix) == ".sinewrig") damaged.insert("rigs/" + file.stem().string());
    };
    note(path);
    std::string bytes = ReadAll(path);
    const auto somewhere = [&] { return dice_.Below(static_cast<std::uint32_t>(bytes.size())); };
    const char* what = "bit flips";
    switch (bytes.empty() ? 2 : dice_.Below(4)) {
      case 0: {
        const auto bit = static_cast<char>(1u << dice_.Below(8));
        char& byte = bytes[somewhere()];
        byte = static_cast<char>(byte ^ bit);
        break;
      }
      case 1:
        what = "truncations";
        bytes.resize(somewhere());
        break;
      case 2:
        what = "appended bytes";
        bytes += "appended";
        break;
      default:
        if (path == other) return;
        note(other);
        fs::rename(path, folder_.path() / "swapped");
        fs::rename(other, path);
        fs::rename(folder_.path() / "swapped", other);
        suite_.Injected(absl::StrCat("swapped files: ", kind.suffix));
        return;
    }
    WriteAll(path.string(), bytes);
    suite_.Injected(absl::StrCat(what, ": ", kind.suffix));
  }

  // Every frame of a rig whose file is not damaged is right, whatever happened to the bound data.
  void CheckFrames(const std::set<std::string>& damaged) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const std::string name = client::RigName(bytes_[i]);
      for (const char* recipe : kRecipes) {
        const Motion& motion = undisturbed_.Get(SizeOf(i), recipe);
        const std::uint64_t frame = 1 + dice_.Below(1000);
        const client::Target target{.rig = name, .recipe = recipe};
        if (!damaged.contains(name)) {
          CheckDeform(suite_, server_.Client(), target, motion, frame);
          suite_.Checked("frames: as undisturbed");
          continue;
        }
        const auto view = server_.Client().Deform(
            target, {}, {.joint_transforms = motion.Pose(frame)}, CheckedOutput());
        suite_.CheckEnd(view.status(), "Deform of a damaged rig",
                        {absl::StatusCode::kDataLoss, absl::StatusCode::kNotFound});
        if (view.ok() && SumOf(*view) != motion.Sum(frame)) {
          suite_.Violated(absl::StrCat("Deform of a damaged rig: another frame (", recipe, ")"));
        }
      }
    }
  }

  Suite& suite_;
  Undisturbed& undisturbed_;
  Random dice_;
  const TemporaryFolder folder_;
  Ledger ledger_;
  RestartableServer server_;
  std::vector<std::string> bytes_;  // of the rigs
  std::string begun_;
  std::uint64_t parts_ = 0;
};

}  // namespace

void InjectDamage(Suite& suite, Undisturbed& undisturbed) {
  Damage(suite, undisturbed).Run();
}

}  // namespace sinew::testing
