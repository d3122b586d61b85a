#include "server/store/scrubber.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/catch_exceptions.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kPeriod{24};  // of passes
constexpr std::chrono::seconds kStartDelay{1}, kRetry{1};

}  // namespace

Scrubber::Scrubber(const ScrubConfig& config, RigStore& rigs, DeformerCache& bound, Timers& timers,
                   Post post, Metrics& metrics, Log log)
    : config_(config),
      rigs_(rigs),
      bound_(bound),
      timers_(timers),
      post_(std::move(post)),
      metrics_(metrics),
      log_(std::move(log)) {}

void Scrubber::Start() {
  StepAfter(kStartDelay);
}

void Scrubber::StepAfter(std::chrono::nanoseconds delay) {
  timers_.After(delay, [this] {
    const absl::Status posted = post_([this] {
      std::chrono::nanoseconds wait = kRetry;
      const absl::Status status = CatchExceptions([&] {
        wait = Step();
        return absl::OkStatus();
      });
      if (!status.ok()) log_->error("scrub: {}", std::string(status.message()));
      StepAfter(wait);
    });
    if (!posted.ok()) StepAfter(kRetry);
  });
}

std::chrono::nanoseconds Scrubber::Step() {
  if (!pass_start_) BeginPass();
  if (!reading_ && !OpenNext()) {
    RemoveOldDamaged();
    metrics_.scrub_passes.Increment();
    const auto next = *std::exchange(pass_start_, std::nullopt) + kPeriod;
    return std::max<std::chrono::nanoseconds>(next - timers_.clock().Now(), kRetry);
  }
  const auto piece = ReadNext(reading_->descriptor, reading_->file.path, kPieceBytes);
  if (!piece.ok()) {
    log_->warn("scrub: {}", std::string(piece.status().message()));
    reading_.reset();
    return kRetry;
  }
  std::visit([&](auto& check) { check.Update(*piece); }, reading_->check);
  const auto bytes = static_cast<double>(piece->size());
  metrics_.scrubbed_bytes.Increment(bytes);
  if (piece->size() < kPieceBytes) Finish();
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(1e9 * bytes / config_.bytes_per_second));
}

void Scrubber::BeginPass() {
  pass_start_ = timers_.clock().Now();
  for (RigKey& key : rigs_.Keys()) {
    fs::path path = rigs_.files()->PathOf(key);
    files_.push_back({std::move(path), std::move(key)});
  }
  for (fs::path& path : bound_.files().List()) files_.push_back({std::move(path), std::nullopt});
}

bool Scrubber::OpenNext() {
  while (!files_.empty()) {
    File file = std::move(files_.front());
    files_.pop_front();
    auto descriptor = OpenToRead(file.path);
    if (!descriptor.ok()) continue;  // deleted since the pass began
    reading_.emplace(Reading{std::move(file), *std::move(descriptor), Sha256()});
    if (!reading_->file.rig) reading_->check = TableChecksum();
    return true;
  }
  return false;
}

void Scrubber::Finish() {
  Reading done = *std::exchange(reading_, std::nullopt);
  if (done.file.rig) {
    // The store reads it again, so that a rig deleted meanwhile is not taken for a damaged one.
    if (std::get<Sha256>(done.check).Hex() != done.file.rig->hex) {
      rigs_.Verify(*done.file.rig).IgnoreError();
    } else {
      rigs_.RestoreSummary(*done.file.rig).IgnoreError();
    }
  } else if (!std::get<TableChecksum>(done.check).Matches()) {
    bound_.SetAside(done.file.path);
  }
}

void Scrubber::RemoveOldDamaged() {
  struct Damaged {
    FileFacts facts;
    fs::path path;
  };
  std::vector<Damaged> files;
  std::vector<fs::path> folders = rigs_.files()->Folders();
  folders.push_back(bound_.files().folder());
  for (const fs::path& folder : folders) {
    for (FileFacts& facts : ListFiles(folder)) {
      const fs::path path = folder / facts.name;
      if (absl::EndsWith(facts.name, kDamagedSuffix)) files.push_back({std::move(facts), path});
    }
  }
  std::ranges::sort(files, std::ranges::greater(), [](const auto& f) { return f.facts.modified; });
  const auto now = timers_.clock().WallNow();
  const std::chrono::duration<double> longest(config_.damaged_days * 86'400);
  std::uint64_t held = 0;
  for (const Damaged& file : files) {  // the newest first
    held += file.facts.bytes;
    if (held <= config_.damaged_bytes && now - file.facts.modified <= longest) continue;
    RemoveQuietly(file.path);
    log_->info("{}: removed", file.path.string());
  }
}

}  // namespace sinew::server
