// npy.cc - arrays of numpy: poses and values of controls.
#include "client/bake/formats/npy.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const auto bytes = std::as_bytes(std::span(data, size));
  const absl::StatusOr<bake::NpyHeader> header = bake::ParseNpyHeader(bytes);
  if (!header.ok()) fuzz::RequireRefusal(header.status());

  const absl::StatusOr<bake::PoseArray> poses = bake::ReadPosesNpy(bytes);
  if (poses.ok()) {
    fuzz::Require(header.ok(), "a header of what was read");
    fuzz::Require(poses->values.size() == std::size_t{poses->frames} * poses->joints * 12,
                  "twelve values for each joint and frame");
  } else {
    fuzz::RequireRefusal(poses.status());
  }

  const absl::StatusOr<bake::ControlArray> controls = bake::ReadControlsNpy(bytes);
  if (controls.ok()) {
    fuzz::Require(controls->values.size() == std::size_t{controls->frames} * controls->controls,
                  "a value for each control and frame");
  } else {
    fuzz::RequireRefusal(controls.status());
  }

  return 0;
}
