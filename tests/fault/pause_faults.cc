// SIGSTOP of the server for longer than a lease.
#include <absl/strings/str_cat.h>

#include <chrono>
#include <csignal>
#include <string>

#include "tests/fault/checked_stream.h"
#include "tests/fault/faults.h"
#include "tests/fault/restartable_server.h"

namespace sinew::testing {
namespace {

using std::chrono::milliseconds;

void Pause(Suite& suite, RestartableServer& server, milliseconds time) {
  suite.Injected("pauses longer than a lease");
  server.process().Signal(SIGSTOP);
  Pass(time);
  server.process().Signal(SIGCONT);
}

}  // namespace

void InjectPauses(Suite& suite, Undisturbed& undisturbed) {
  Random dice = suite.Dice("pauses");
  RestartableServer server(suite, {}, {"--session-ttl-seconds", "3"});
  const Motion& motion = undisturbed.Get(Size::kMedium, "dqs");
  const Motion& pumped = undisturbed.Get(Size::kSmall, "lbs");
  StreamPump pump(suite, pumped, LabelledRig(pumped.rig, "pumped"), Patient(server.address()),
                  suite.Dice("pump"));
  for (std::uint64_t i = 0; i < suite.SlowRepeats() && suite.MayContinue(); ++i) {
    const client::Client client = server.Client();
    const auto character =
        suite.Need(client::Character::Create(client, motion.rig, motion.recipe), "character");
    // A stream that is in use, and one that waits for its next pose: both keep their session.
    CheckedStream stream(suite, motion,
                         suite.Need(character.OpenStream(CheckedOptions(32, true)), "OpenStream"));
    CheckedStream idle(suite, motion,
                       suite.Need(character.OpenStream(CheckedOptions()), "OpenStream"));
    const std::string session = stream.stream().info().session;
    suite.Step("SIGSTOP with open streams");
    suite.Need(stream.Advance(1 + dice.Below(200)), "before the pause");
    suite.Need(idle.Advance(5), "before the pause");
    stream.Fill();
    Pause(suite, server, milliseconds(3200 + dice.Below(800)));
    suite.Need(stream.Advance(stream.taken() + 200), "after a pause");
    suite.Need(idle.Advance(idle.taken() + 200), "after a pause");
    suite.Need(client.GetSession(session).status(), "the session of open streams");
    suite.Checked("sessions with open streams: kept");
    // The direct client resumes nothing: no stream was lost.
    suite.CheckEnd(stream.Finish(), "streams over a pause", {});
    suite.CheckEnd(idle.Finish(), "idle streams over a pause", {});

    if (i % 2 == 0) continue;
    suite.Step("SIGSTOP without streams");
    Pause(suite, server, milliseconds(3200));
    // Its lease may be over: then it is unknown, and a new one computes the same frames.
    suite.CheckEnd(client.GetSession(session).status(), "sessions without a stream",
                   {absl::StatusCode::kNotFound});
    const auto again =
        suite.Need(client::Character::Create(client, motion.rig, motion.recipe), "character");
    const std::uint64_t frame = 1 + dice.Below(1000);
    CheckFrame(suite, again.Deform({}, {.joint_transforms = motion.Pose(frame)}, CheckedOutput()),
               motion, frame);
  }
  pump.Stop();
  if (pump.resumed() > 0) suite.Violated("a pause has broken a stream");
}

}  // namespace sinew::testing
