// fit_template.cc - templates of skeletons as JSON, for fit-skeleton.
#include "client/bake/character/template_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const auto joints = bake::ParseTemplate(std::string(fuzz::Text(data, size)));
  if (!joints.ok()) {
    fuzz::RequireRefusal(joints.status(), {absl::StatusCode::kInvalidArgument});
    return 0;
  }
  for (const client::TemplateJoint& joint : *joints) {
    fuzz::Require(fuzz::AllFinite(joint.place), "finite numbers");
    for (const auto& other : {joint.parent, joint.partner}) {
      fuzz::Require(!other || *other < joints->size(), "a joint of the template");
    }
  }
  return 0;
}
