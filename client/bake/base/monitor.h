// monitor.h - what long work tells its caller while it runs, and how the caller stops it.
#pragma once

#include <absl/status/status.h>

#include <memory>
#include <string>
#include <vector>

#include "sinew/client.h"

namespace sinew::bake {

// The progress of one task. Thread-safe.
class ProgressLine {
 public:
  virtual ~ProgressLine() = default;

  // `fraction` in [0, 1]; `detail` says more, such as "frame 12 of 99".
  virtual void Update(double fraction, const std::string& detail = {}) = 0;

  // No update follows, or none that is shown.
  virtual void Close() {}
};

// Does nothing by itself: a caller overrides what it wants to hear. Not thread-safe.
class Monitor {
 public:
  enum class Part {
    kMain,   // what was asked for
    kFirst,  // work before that
  };

  virtual ~Monitor() = default;

  // A task begins, such as "Bake".
  virtual std::shared_ptr<ProgressLine> MakeProgress(const std::string& label,
                                                     Part part = Part::kMain) const;

  // kCancelled: the work is to end.
  virtual absl::Status CheckStop() const { return absl::OkStatus(); }

  // The options of every call to the server.
  virtual client::CallOptions call() const { return {}; }

  // What a person may want to know, and what may be wrong with the result. A text may come again.
  virtual void Note(const std::string& text) const;
  virtual void Warn(const std::string& text) const;
  virtual void Warn(const std::vector<client::Problem>& problems) const;
  // What may be wrong with one of several clips.
  virtual void WarnOfClip(const std::string& clip, const std::string& text) const;
};

}  // namespace sinew::bake
