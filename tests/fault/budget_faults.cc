// Budgets of memory that are exhausted: frame buffers, held bytes and bound data. What is accepted
// is right; the rest is refused by the name of its limit.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/ledger.h"
#include "tests/fault/restartable_server.h"

namespace sinew::testing {
namespace {

class Budgets {
 public:
  Budgets(Suite& suite, Undisturbed& undisturbed)
      : suite_(suite),
        undisturbed_(undisturbed),
        dice_(suite.Dice("budgets")),
        server_(suite, {},
                {"--set", "max-frame-bytes=12000000", "--set", "max-bound-bytes=30000000"}) {}

  void Run() {
    for (std::uint64_t i = 0; i < suite_.SlowRepeats() && suite_.MayContinue(); ++i) {
      Streams();
      Deforms();
      Binds();
      Uploads();
    }
  }

 private:
  // True: accepted. Refused must be by this limit, with a time to try again.
  bool Accepted(const absl::Status& status, const std::vector<std::string>& limits) {
    if (status.ok()) return true;
    const client::ErrorDetails details = client::Details(status);
    const std::string limit = details.limits.empty() ? "" : details.limits[0].field;
    if (!absl::IsResourceExhausted(status) || std::ranges::find(limits, limit) == limits.end()) {
      suite_.Violated(absl::StrCat("a full budget: got ", status.ToString()));
    }
    if (!details.retry_delay) suite_.Violated(absl::StrCat(limit, ": refused without RetryInfo"));
    suite_.Injected(absl::StrCat("calls beyond ", limit));
    return false;
  }

  // More streams than fit, then as many again.
  void Streams() {
    suite_.Step("more streams than fit");
    const Motion& motion = undisturbed_.Get(Size::kHuge, "lbs");
    const auto character = suite_.Need(
        client::Character::Create(server_.Client(), motion.rig, motion.recipe), "character");
    std::list<CheckedStream> streams;
    for (std::uint32_t i = 0, wanted = 4 + dice_.Below(8); i < wanted; ++i) {
      auto opened = character.OpenStream(CheckedOptions(1 + dice_.Below(8)));
      if (Accepted(opened.status(), {"max-frame-bytes"})) {
        streams.emplace_back(suite_, motion, *std::move(opened));
      }
    }
    for (int round = 1; round <= 3; ++round) {
      for (CheckedStream& stream : streams) {
        suite_.Need(stream.Advance(static_cast<std::uint64_t>(round) * 3), "an accepted stream");
      }
    }
    for (CheckedStream& stream : streams) {
      suite_.CheckEnd(stream.Finish(), "streams beside refused ones", {});
    }
    streams.clear();
    suite_.Checked("budgets given back");
    CheckOneMore(character, motion);
  }

  // The last calls may still hold their share for a moment.
  void CheckOneMore(const client::Character& character, const Motion& motion) {
    const auto patient = Connected(suite_, Patient(server_.address()));
    CheckDeform(suite_, patient, {.session = character.session().name}, motion,
                1 + dice_.Below(1000));
    suite_.Need(character.Release(), "release");
  }

  void Deforms() {
    suite_.Step("more frames at a time than fit");
    const Motion& motion = undisturbed_.Get(Size::kHuge, "lbs");
    const client::Client client = server_.Client();
    const auto character =
        suite_.Need(client::Character::Create(client, motion.rig, motion.recipe), "character");
    const client::Target target{.session = character.session().name};
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.push_back(suite_.Thread([&, t] {
        for (std::uint64_t i = 0; i < 4; ++i) {
          const std::uint64_t frame = static_cast<std::uint64_t>(t) * 7 + i + 1;
          const auto view =
              client.Deform(target, {}, {.joint_transforms = motion.Pose(frame)}, CheckedOutput());
          if (!Accepted(view.status(), {"max-frame-bytes"})) continue;
          if (SumOf(*view) != motion.Sum(frame)) {
            suite_.Violated("Deform beside refused ones: another frame");
          }
          ++suite_.frames;
          suite_.Checked("Deform calls beside refused ones");
        }
      }));
    }
    for (std::thread& thread : threads) thread.join();
    CheckOneMore(character, motion);
  }

  // Sessions of different rigs until their bound data is too large, while one streams.
  void Binds() {
    suite_.Step("more bound data than fits");
    const Motion& motion = undisturbed_.Get(Size::kLarge, "ddm");
    const client::Client client = server_.Client();
    std::list<client::Character> held;
    std::list<CheckedStream> streams;
    for (int i = 0; i < 40; ++i) {
      const std::string bytes = LabelledRig(motion.rig, absl::StrCat("bound ", ++labels_));
      auto character = client::Character::Create(client, bytes, motion.recipe);
      if (!Accepted(character.status(), {"max-bound-bytes"})) break;
      if (streams.empty()) {
        streams.emplace_back(suite_, motion,
                             suite_.Need(character->OpenStream(CheckedOptions()), "OpenStream"));
      }
      suite_.Need(streams.front().Advance(streams.front().taken() + 20), "beside binds");
      held.push_back(*std::move(character));
    }
    for (CheckedStream& stream : streams) {
      suite_.CheckEnd(stream.Finish(), "streams beside refused binds", {});
    }
    streams.clear();
    for (const client::Character& character : held) {
      CheckDeform(suite_, client, {.session = character.session().name}, motion,
                  1 + dice_.Below(1000));
      suite_.Need(character.Release(), "release");
    }
    suite_.Checked("bound characters beside refused ones", held.size());
  }

  // Requests of 1 MB at a time: what is acknowledged is whole.
  void Uploads() {
    suite_.Step("more requests at a time than fit");
    const RestartableServer server(suite_, {}, {"--set", "max-held-bytes=3000000"});
    Ledger ledger(suite_);
    std::vector<std::string> rigs;
    for (int t = 0; t < 12; ++t) {
      rigs.push_back(LabelledRig(undisturbed_.Get(Size::kHuge, "lbs").rig,
                                 absl::StrCat("at once ", ++labels_)));
      ledger.Uploading(rigs.back());
    }
    std::vector<absl::Status> results(rigs.size());
    std::vector<std::thread> threads;
    client::ClientOptions options = Direct(server.address());
    options.piece_bytes = 1 << 20;
    for (std::size_t t = 0; t < rigs.size(); ++t) {
      threads.push_back(suite_.Thread(
          [&, t] { results[t] = Connected(suite_, options).UploadRig(rigs[t]).status(); }));
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < rigs.size(); ++t) {
      const std::string name = client::RigName(rigs[t]);
      if (Accepted(results[t], {"max-held-bytes"})) {
        ledger.Stored(name);
      } else {
        ledger.Absent(name);
      }
    }
    // The last calls may still hold their share for a moment.
    ledger.Check(Connected(suite_, Patient(server.address())));
  }

  Suite& suite_;
  Undisturbed& undisturbed_;
  Random dice_;
  RestartableServer server_;
  std::uint64_t labels_ = 0;
};

}  // namespace

void InjectFullBudgets(Suite& suite, Undisturbed& undisturbed) {
  Budgets(suite, undisturbed).Run();
}

}  // namespace sinew::testing
