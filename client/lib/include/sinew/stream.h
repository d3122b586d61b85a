// stream.h - poses in, frames out: what every deform call is told, and the two-way stream.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sinew/frame.h"

namespace sinew::client {

enum class JointFormat : std::uint8_t { kMatrix3x4 = 1, kTrs = 2 };
enum class Space : std::uint8_t { kModel = 1, kLocal = 2 };
enum class OrderMode : std::uint8_t { kOrdered = 1, kLatest = 2 };

// How the floats of poses are to be read.
struct PoseLayout {
  JointFormat joint_format =
      JointFormat::kMatrix3x4;  // 12 floats a joint; kTrs: 10 (t xyz, q xyzw, s xyz)
  Space space = Space::kModel;  // kLocal: relative to the parent
  std::vector<std::string> joints =
      {};  // names in the order of the floats; empty = all, in rig order
  std::vector<std::string> controls = {};  // likewise
};

// One pose; borrowed during the call it is given to.
struct Pose {
  std::span<const float> joint_transforms;  // [joints of the layout * 12 or 10]
  std::span<const float> controls = {};     // [controls of the layout] or empty
  std::uint64_t frame = 0;                  // strictly rising within a stream; 0 = the next number
  std::optional<double> time = {};          // s, handed back with the frame
  bool reset = false;                       // forget what stateful stages carry: start from rest
  bool no_output = false;                   // advance state only: no frame comes back
};

// What comes back.
struct OutputOptions {
  std::vector<Attribute> attributes = {};  // empty = positions
  std::vector<Encoding> encodings = {};    // allowed for positions, best first; empty = float32
  std::vector<Encoding> normal_encodings = {};  // empty = float32
  std::vector<Compression> compressions = {};   // empty = none
  std::uint32_t chunk_bytes = 0;                // largest message's bulk; 0 = the server's 1 MiB
  bool muscles = false;                         // the rig's muscles as each pose has them
  bool checksums = true;  // false: the server leaves them out and nothing is verified
};

// What a deform call works on: a session, or a rig and a deformer (the server then keeps a
// short-lived session).
struct Target {
  std::string session = {};   // sessions/...; empty = use the fields below
  std::string rig = {};       // rigs/sha256-...
  std::string deformer = {};  // text form, or JSON of sinew.v1.Recipe (first character '{')
  std::string determinism_digest = {};  // demanded digest, or empty
};

struct StreamOptions {
  PoseLayout layout = {};
  OutputOptions output = {};
  OrderMode mode = OrderMode::kOrdered;
  std::uint32_t window = 0;  // frames the server may send ahead of Next(); 0 = 8 ordered, 2 latest
  std::size_t max_queued = 64;  // ordered: poses that Send keeps beyond those on the wire
};

// What Next returns for one pose: a frame, or why there is none.
struct StreamItem {
  std::uint64_t frame = 0;
  absl::Status problem;  // not ok: this pose could not be used; the stream goes on
  FrameView view;        // empty if problem is not ok
};

struct StreamInfo {
  std::string session, determinism_digest;
  std::uint64_t vertices = 0;
  std::uint32_t window = 0, chunk_bytes = 0;
  std::uint32_t resumed = 0;  // times the stream was opened again behind the caller's back
  bool stateful = false;      // frames depend on the poses before them
};

class StreamCore;  // inside the library

// A stream of poses and frames. Made by Client::OpenStream or Character::OpenStream; the destructor
// cancels.
//
// A reader thread of its own receives; what Next has returned is acknowledged to the server, so a
// caller that stops calling Next is sent at most `window` further frames. When the connection
// breaks, the replica dies or the server drains, the stream opens again, with backoff, behind the
// last frame that arrived: an ordered stream then repeats the poses that have no frame yet, a
// latest one only the newest. Frames of an ordered stream come in order, each once. It ends with
// FAILED_PRECONDITION rather than continue with other determinism digest. The state of a recipe
// that has one is lost with the call: the first frame behind the break is reached from rest and
// says so (FrameView::replayed_steps). Send and Next may be called from two threads; neither from
// two at once.
class Stream {
 public:
  explicit Stream(std::shared_ptr<StreamCore> core);
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Queues a copy of the pose and returns its frame number. Never blocks.
  //   kResourceExhausted: ordered and `max_queued` poses wait: call Next. A latest stream drops an
  //   older pose instead. kInvalidArgument: frame not above the one before. kFailedPrecondition:
  //   after Finish. Any other code: the stream has ended with it.
  absl::StatusOr<std::uint64_t> Send(const Pose& pose);

  // Poses that Send would take now.
  std::size_t room() const;

  // Waits for the next frame. nullopt: Finish was called and all frames were returned.
  //   kDeadlineExceeded: nothing within `timeout`; the stream goes on. Any other code: it has ended
  //   with it.
  absl::StatusOr<std::optional<StreamItem>> Next(absl::Duration timeout = absl::InfiniteDuration());

  // No more poses will come.
  void Finish();

  // Ends the stream from any thread; Next returns kCancelled.
  void Cancel();

  StreamInfo info() const;

 private:
  std::shared_ptr<StreamCore> core_;
};

}  // namespace sinew::client
