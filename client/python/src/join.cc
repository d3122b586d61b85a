// A cache of the parts that processes have baked.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/join_parts.h"
#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "client/python/src/errors.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

py::object Join(const std::filesystem::path& out, std::vector<std::int64_t> frames,
                const std::string& format, bool overwrite) {
  std::ranges::sort(frames);
  frames.erase(std::ranges::unique(frames).begin(), frames.end());
  if (!frames.empty() && frames.front() < 0) {
    Raise(absl::InvalidArgumentError("frames: need numbers of 0 or more"));
  }
  const bake::CacheTarget target =
      Value(bake::CommonTarget({.out = out.string(), .format = format, .no_clobber = !overwrite}));
  bake::JoinRequest request = {
      .cache = out.string(), .format = target.format, .overwrite = overwrite};
  request.frame_numbers = frames;
  Value(Blocked([&](const std::stop_token& stop) {
    return bake::JoinAndRemoveParts(request, [&](double) {
      return stop.stop_requested() ? absl::CancelledError("interrupted") : absl::OkStatus();
    });
  }));
  return PathObject(request.cache);
}

}  // namespace

void BindJoin(py::module_& module) {
  module.def("join", Join, "out"_a, "frames"_a = std::vector<std::int64_t>(), py::kw_only(),
             "format"_a = "", "overwrite"_a = true,
             R"(Makes the cache `out` of the parts that Character.bake(..., part=True) has written.

frames: the numbers of all frames of the cache, such as range(1000); its parts are removed then.
Without: the frames that the parts have, which are kept. Every frame is checked. The cache is the
same, byte for byte, as one that was baked at once. Returns its path.)");
}

}  // namespace sinew::python
