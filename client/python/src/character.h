// character.h - a rig bound to a deformer, as Python has it.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/python/src/bindings.h"

namespace sinew::python {

struct BoundCharacter {
  BoundCharacter(Rig own_rig, client::Character own, std::shared_ptr<const Connection> used)
      : connection(std::move(used)), rig(std::move(own_rig)), bound(std::move(own)) {}

  std::shared_ptr<const Connection> connection;
  Rig rig;
  client::Character bound;
  std::set<std::string> warned_clips = {};  // names; with the GIL
};

// The clip as it is sent. Refers to `clip` and `times`.
client::ClipPoses SentClip(const BoundCharacter& character, const client::ClipData& clip,
                           std::vector<double>& times);

}  // namespace sinew::python
