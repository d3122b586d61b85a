// kill -9 while rigs are uploaded, bound, saved and deleted, and frames are streamed.
#include <absl/strings/str_cat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/folder_watch.h"
#include "tests/fault/ledger.h"
#include "tests/fault/restartable_server.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr const char* kRecipes[] = {"lbs", "dqs", "ddm", "delta_mush"};
constexpr std::size_t kMostRigs = 20;

class Kills {
 public:
  Kills(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite),
        undisturbed_(undisturbed),
        dice_(suite.Dice("kills")),
        ledger_(suite),
        server_(suite, folder_.path()) {}

  void Run() {
    const Motion& motion = undisturbed_.Get(Size::kSmall, "lbs");
    const std::string bytes = LabelledRig(motion.rig, "streamed");
    suite_.Need(ledger_.Upload(server_.Client(), bytes), "upload");
    ledger_.Pin(client::RigName(bytes));
    StreamPump pump(suite_, motion, bytes, Patient(server_.address()), suite_.Dice("pump"),
                    absl::StatusCode::kNotFound);
    while (suite_.kills < suite_.options().kills && suite_.MayContinue()) {
      switch (suite_.kills % 5) {
        case 0:
          DuringUpload();
          break;
        case 1:
          DuringBind();
          break;
        case 2:
          DuringSave();
          break;
        case 3:
          DuringDelete();
          break;
        default:
          DuringStream(pump);
      }
      KeepFew();
    }
    pump.Stop();
  }

 private:
  // Runs the call in a thread and kills the server meanwhile: at once, after a time in which such
  // calls end, or between two changes of these folders.
  template <class Call>
  absl::Status KillDuring(const std::string& what, const std::vector<std::string>& folders,
                          const Call& call) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& name : folders) paths.push_back(folder_.path() / name);
    FolderWatch watch(paths);
    const unsigned changes = folders.empty() ? 0 : dice_.Below(6);
    microseconds& typical = typical_.try_emplace(what, microseconds(3000)).first->second;
    const float longest = changes > 0 ? 200.0f : 1.2f * static_cast<float>(typical.count());
    const microseconds delay(static_cast<std::int64_t>(dice_.Next() * longest));
    suite_.Step(absl::StrCat(what, ", killed after ", changes, " changes of files and ",
                             delay.count(), " us"));
    std::atomic<bool> over{false};
    absl::Status status;
    const auto start = steady_clock::now();
    microseconds took{};
    std::thread thread([&] {
      status = call();
      took = std::chrono::duration_cast<microseconds>(steady_clock::now() - start);
      over = true;
    });
    watch.Await(changes, [&] { return over.load(); });
    Pass(delay);
    const bool during = !over;
    server_.Kill();
    thread.join();
    ++suite_.kills;
    suite_.Injected(absl::StrCat("kills ", during ? "during " : "after ", what));
    if (status.ok()) typical = (3 * typical + took) / 4;
    if (during) {
      suite_.CheckEnd(status, what, {absl::StatusCode::kUnavailable});
    } else if (!status.ok()) {
      suite_.Violated(absl::StrCat(what, ": ", status.ToString(), " without a fault"));
    }
    return status;
  }

  void Restart() {
    server_.Start();
    server_.CheckFolders();
    ledger_.Check(server_.Client());
  }

  std::string NewRig(Size size) {
    return LabelledRig(undisturbed_.Get(size, "lbs").rig,
                       absl::StrCat("rig ", suite_.options().seed, " ", ++labels_));
  }

  void DuringUpload() {
    constexpr Size kSizes[] = {Size::kSmall,  Size::kSmall,  Size::kMedium, Size::kMedium,
                               Size::kMedium, Size::kMedium, Size::kLarge,  Size::kHuge};
    std::string bytes = NewRig(kSizes[dice_.Below(std::size(kSizes))]);
    // Sometimes one that was deleted, or that another upload has begun.
    if (!begun_.empty() && dice_.Below(3) == 0) bytes = begun_;
    const std::string name = ledger_.Uploading(bytes);
    const client::Client client = server_.Client();
    const absl::Status status = KillDuring("uploads", {"uploads", "rigs"},
                                           [&] { return client.UploadRig(bytes).status(); });
    if (status.ok()) ledger_.Stored(name);
    Restart();
    if (dice_.Below(2) == 0) {  // resumed
      suite_.Need(ledger_.Upload(server_.Client(), bytes), "upload after a kill");
      suite_.Checked("uploads repeated after a kill");
    } else {
      begun_ = bytes;
    }
  }

  absl::Status Bind(const client::Client& client, const std::string& name,
                    const std::string& recipe) {
    const auto created = client.CreateSession({.rig = name, .recipe = recipe});
    if (!created.ok()) return created.status();
    return client.WaitSession(created->name).status();
  }

  // Kills during a bind of a new rig, then checks a frame.
  void KillBind(const std::string& what, Size size, const std::string& recipe,
                const std::vector<std::string>& folders) {
    const Motion& motion = undisturbed_.Get(size, recipe);
    const std::string bytes = NewRig(size), name = client::RigName(bytes);
    const client::Client client = server_.Client();
    suite_.Need(ledger_.Upload(client, bytes), "upload");
    KillDuring(what, folders, [&] { return Bind(client, name, recipe); }).IgnoreError();
    Restart();
    CheckDeform(suite_, server_.Client(), {.rig = name, .recipe = recipe}, motion,
                1 + dice_.Below(1000));
    suite_.Checked("frames after a killed bind: as undisturbed");
  }
  void DuringBind() { KillBind("binds", Size::kLarge, kRecipes[2 + dice_.Below(2)], {}); }
  void DuringSave() { KillBind("saves", Size::kMedium, kRecipes[dice_.Below(4)], {"bound"}); }

  void DuringDelete() {
    std::string name = ledger_.Choose(dice_);
    const client::Client client = server_.Client();
    if (name.empty()) {
      const std::string bytes = NewRig(Size::kMedium);
      suite_.Need(ledger_.Upload(client, bytes), "upload");
      name = client::RigName(bytes);
    }
    // With bound data to remove.
    if (dice_.Below(2) == 0) suite_.Need(Bind(client, name, "lbs"), "bind");
    const std::string bytes = ledger_.Bytes(name);
    ledger_.Deleting(name);
    const absl::Status status =
        KillDuring("deletes", {"rigs", "bound"}, [&] { return client.DeleteRig(name); });
    if (status.ok()) ledger_.Absent(name);
    Restart();
    if (dice_.Below(4) == 0) {
      suite_.Need(ledger_.Upload(server_.Client(), bytes), "upload after a delete");
      suite_.Checked("deleted rigs uploaded again");
    }
  }

  void DuringStream(StreamPump& pump) {
    const std::uint64_t frames = 1 + dice_.Below(400);
    suite_.Step(absl::StrCat("stream, killed after ", frames, " frames"));
    if (!pump.Await(pump.frames() + frames)) suite_.Abandon("no frames within a minute");
    server_.Kill();
    ++suite_.kills;
    suite_.Injected("kills during streams");
    Restart();
  }

  void KeepFew() {
    while (ledger_.StoredRigs().size() > kMostRigs) {
      suite_.Need(ledger_.Delete(server_.Client(), ledger_.Choose(dice_)), "delete");
    }
  }

  Suite& suite_;
  Undisturbed& undisturbed_;
  Random dice_;
  const TemporaryFolder folder_;
  Ledger ledger_;
  RestartableServer server_;
  std::map<std::string, microseconds> typical_;  // duration of calls
  std::uint64_t labels_ = 0;
  std::string begun_;  // a rig whose upload was cut off
};

}  // namespace

void InjectKills(Suite& suite, Undisturbed& undisturbed) {
  Kills(suite, undisturbed).Run();
}

}  // namespace sinew::testing
