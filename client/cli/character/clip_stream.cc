#include "client/cli/character/clip_stream.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <stop_token>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/character/bound_character.h"
#include "client/lib/codec/status_macros.h"

namespace sinew::cli {
namespace {

// One in so many poses that nobody asked for brings a frame all the same: it makes room for more
// poses and shows how far they are.
constexpr std::size_t kSignOfLife = 16;
constexpr int kMaxBreaks = 5;  // without a frame in between

class ClipRun {
 public:
  ClipRun(const Context& context, const client::Character& character, const client::ClipData& clip,
          const WholeMotion& whole, const client::OutputOptions& output, const LeadProgress& lead,
          const FrameSink& sink)
      : context_(context),
        character_(character),
        clip_(clip),
        whole_(whole),
        output_(output),
        lead_(lead),
        sink_(sink) {}

  absl::Status Run() {
    for (int breaks = 0; breaks < kMaxBreaks; ++breaks) {
      const std::size_t before = received_;
      SINEW_ASSIGN_OR_RETURN(const bool complete, RunOnce());
      if (complete) return context_.CheckStop();
      if (received_ > before) breaks = 0;
      context_.Note(absl::StrCat("the connection broke, and the deformer's state with it: sending ",
                                 "the poses before frame ", Number(received_), " again"));
    }
    return absl::UnavailableError(absl::StrCat("the connection broke ", kMaxBreaks,
                                               " times before frame ", Number(received_),
                                               " could be reached from the first"));
  }

 private:
  std::int64_t Number(std::size_t index) const {
    return clip_.first_frame + static_cast<std::int64_t>(index) * clip_.step;
  }

  // Where the clip's pose `index` is among those that are sent.
  std::size_t PlaceOf(std::size_t index) const {
    return longer_ ? static_cast<std::size_t>(Number(index)) : index;
  }

  absl::Status Begin(const client::StreamInfo& info) {
    stateful_ = info.stateful;
    if (determinism_digest_.empty()) determinism_digest_ = info.determinism_digest;
    if (determinism_digest_ != info.determinism_digest) {
      return absl::FailedPreconditionError(
          absl::StrCat("determinism digest: got ", info.determinism_digest,
                       " after a break of a bake that began with ", determinism_digest_));
    }
    if (!stateful_ || longer_ || (clip_.first_frame == 0 && clip_.step == 1)) {
      return absl::OkStatus();
    }
    SINEW_ASSIGN_OR_RETURN(longer_, whole_());
    context_.Note(absl::StrCat("frames depend on those before them: all ", longer_->frames,
                               " from frame 0 on are computed, ", clip_.frames,
                               clip_.frames == 1 ? " is kept" : " are kept"));
    return absl::OkStatus();
  }

  // Sends from the first pose on and hands over what was not yet. False: the connection broke and
  // the deformer forgot what it had seen.
  absl::StatusOr<bool> RunOnce() {
    SINEW_ASSIGN_OR_RETURN(client::Stream stream,
                           character_.OpenStream({.output = output_}, context_.call()));
    const std::stop_callback cancel(context_.stop(), [&] { stream.Cancel(); });
    SINEW_RETURN_IF_ERROR(Begin(stream.info()));
    sent_ = next_wanted_ = 0;
    // Without state the first stream is the only one; it resumes by itself.
    while (true) {
      SINEW_RETURN_IF_ERROR(SendSome(stream));
      SINEW_ASSIGN_OR_RETURN(const std::optional<client::StreamItem> item, stream.Next());
      if (item && stateful_ && stream.info().resumed > 0) return false;
      if (!item) break;
      SINEW_RETURN_IF_ERROR(Take(*item));
    }
    if (received_ == clip_.frames) return true;
    return absl::InternalError(
        absl::StrCat("frames: got ", received_, " from the server, need ", clip_.frames));
  }

  absl::Status SendSome(client::Stream& stream) {
    const client::ClipData& motion = longer_ ? *longer_ : clip_;
    for (; sent_ < motion.frames && stream.room() > 0; ++sent_) {
      client::Pose pose = PoseOf(motion, sent_);
      pose.frame = sent_ + 1;
      const bool wanted = next_wanted_ < clip_.frames && sent_ == PlaceOf(next_wanted_);
      const bool known = wanted && next_wanted_ < received_;
      if (wanted) ++next_wanted_;
      pose.no_output = (!wanted || known) && sent_ % kSignOfLife != 0;
      if (const auto queued = stream.Send(pose); !queued.ok()) return queued.status();
      if (sent_ + 1 == motion.frames) stream.Finish();
    }
    return absl::OkStatus();
  }

  absl::Status Take(const client::StreamItem& item) {
    const std::size_t place = static_cast<std::size_t>(item.frame) - 1;
    if (!item.problem.ok()) {
      const std::int64_t frame = longer_ ? static_cast<std::int64_t>(place) : Number(place);
      return Prefixed(absl::StrCat("frame ", frame), item.problem);
    }
    const std::size_t due = PlaceOf(received_);
    if (place < due) {
      lead_(place + 1, due);
      return absl::OkStatus();
    }
    if (place > due || received_ == clip_.frames) {
      return absl::InternalError(
          absl::StrCat("frame: got number ", item.frame, ", need ", due + 1));
    }
    SINEW_RETURN_IF_ERROR(sink_(received_, item.view));
    ++received_;
    return absl::OkStatus();
  }

  const Context& context_;
  const client::Character& character_;
  const client::ClipData& clip_;
  const WholeMotion& whole_;
  const client::OutputOptions& output_;
  const LeadProgress& lead_;
  const FrameSink& sink_;
  std::optional<client::ClipData> longer_;  // what is sent instead of the clip
  bool stateful_ = false;
  std::string determinism_digest_;
  std::size_t received_ = 0;                // frames of the clip that were handed over
  std::size_t sent_ = 0, next_wanted_ = 0;  // of the present stream; frames of the clip it passed
};

}  // namespace

absl::Status StreamClip(const Context& context, const client::Character& character,
                        const client::ClipData& clip, const WholeMotion& whole,
                        const client::OutputOptions& output, const LeadProgress& lead,
                        const FrameSink& sink) {
  return ClipRun(context, character, clip, whole, output, lead, sink).Run();
}

}  // namespace sinew::cli
