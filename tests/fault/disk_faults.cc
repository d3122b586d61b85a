// Disks that are full: a small tmpfs where this process may mount one, and always a limit on the
// size of the server's files, which also cuts a write in its middle.
#include <absl/strings/str_cat.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/ledger.h"
#include "tests/fault/restartable_server.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

// A folder with few bytes, if the system permits it.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size)
      : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                         absl::StrCat("mode=0700,size=", size).c_str()) == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_;
  const bool mounted_;
};

class FullDisk {
 public:
  // full: the code of a refused upload.
  FullDisk(Suite& suite, Undisturbed& undisturbed, const std::filesystem::path& folder,
           absl::StatusCode full)
      : suite_(suite),
        undisturbed_(undisturbed),
        dice_(suite.Dice(absl::StatusCodeToString(full))),
        full_(full),
        ledger_(suite),
        server_(suite, folder) {}

  // Uploads, deletes, binds and kills in a random order.
  void Steps(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && suite_.MayContinue(); ++i) {
      const std::uint32_t what = dice_.Below(10);
      if (what < 6) {
        Upload();
      } else if (what < 7) {
        Delete();
      } else if (what < 9) {
        Bind();
      } else {
        KillAndCheck();
      }
    }
  }

  void KillAndCheck() {
    suite_.Step("kill with a full disk");
    server_.Kill();
    suite_.Injected("kills with a full disk");
    server_.Start();
    server_.CheckFolders();
    ledger_.Check(server_.Client());
  }

  // With room again, the next upload succeeds.
  void Recover() {
    suite_.Step("room again");
    for (const std::string& name : ledger_.StoredRigs()) {
      suite_.Need(ledger_.Delete(server_.Client(), name), "delete with a full disk");
    }
    suite_.Need(ledger_.Upload(server_.Client(), NewRig(Size::kLarge)), "upload with room again");
    suite_.Checked("uploads with room again");
    KillAndCheck();
  }

  SinewdProcess& process() { return server_.process(); }

 private:
  std::string NewRig(Size size) {
    return LabelledRig(undisturbed_.Get(size, "lbs").rig, absl::StrCat("full ", ++labels_));
  }

  void Upload() {
    constexpr Size kSizes[] = {Size::kSmall, Size::kMedium, Size::kLarge, Size::kHuge};
    const Size size = kSizes[dice_.Below(4)];
    suite_.Step("upload to a disk that may be full");
    const absl::Status status = ledger_.Upload(server_.Client(), NewRig(size));
    suite_.CheckEnd(status, "upload", {full_});
    if (!status.ok()) suite_.Injected("uploads without room");
  }

  void Delete() {
    const std::string name = ledger_.Choose(dice_);
    if (name.empty()) return;
    suite_.Step("delete from a disk that may be full");
    suite_.Need(ledger_.Delete(server_.Client(), name), "delete");
    suite_.Checked("deletes");
  }

  // Bound data that cannot be saved is no error.
  void Bind() {
    const std::string name = ledger_.Choose(dice_);
    if (name.empty()) return;
    suite_.Step("bind with a disk that may be full");
    for (const Size size : {Size::kSmall, Size::kMedium, Size::kLarge, Size::kHuge}) {
      const Motion& motion = undisturbed_.Get(size, "dqs");
      const auto rig = suite_.Need(server_.Client().GetRig(name), "GetRig");
      if (rig.vertices != motion.rig.vertices()) continue;
      CheckDeform(suite_, server_.Client(), {.rig = name, .recipe = "dqs"}, motion,
                  1 + dice_.Below(1000));
      suite_.Checked("frames of binds: as undisturbed");
    }
  }

  Suite& suite_;
  Undisturbed& undisturbed_;
  Random dice_;
  const absl::StatusCode full_;
  Ledger ledger_;
  RestartableServer server_;
  std::uint64_t labels_ = 0;
};

void LimitFiles(pid_t pid, rlim_t bytes) {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  ::prlimit(pid, RLIMIT_FSIZE, &limit, nullptr);
}

}  // namespace

void InjectFullDisks(Suite& suite, Undisturbed& undisturbed) {
  const std::uint64_t steps = 8 * suite.Repeats();
  if (const SmallDisk disk("8m"); disk.mounted()) {
    suite.Injected("tmpfs of 8 MB");
    FullDisk full(suite, undisturbed, disk.path(), absl::StatusCode::kResourceExhausted);
    full.Steps(steps);
    if (suite.MayContinue()) full.Recover();
  } else {
    suite.Checked("not checked: this process may not mount a tmpfs");
  }
  const TemporaryFolder folder;
  FullDisk full(suite, undisturbed, folder.path(), absl::StatusCode::kInternal);
  Random dice = suite.Dice("limit of files");
  for (std::uint64_t i = 0; i < suite.Repeats() && suite.MayContinue(); ++i) {
    const rlim_t bytes = 1 + dice.Below(1u << (8 + dice.Below(13)));
    LimitFiles(full.process().pid(), bytes);
    suite.Injected("limits on the size of files");
    full.Steps(4);
    LimitFiles(full.process().pid(), RLIM_INFINITY);
    if (suite.MayContinue()) full.Recover();
  }
}

}  // namespace sinew::testing
