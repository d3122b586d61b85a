// character.h - a rig bound to a deformer, as Python has it.
#pragma once

#include <memory>
#include <utility>

#include "client/python/src/bindings.h"

namespace sinew::python {

struct BoundCharacter {
  BoundCharacter(Rig own_rig, client::Character own, std::shared_ptr<void> kept)
      : service(std::move(kept)), rig(std::move(own_rig)), bound(std::move(own)) {}

  std::shared_ptr<void> service;  // a local server must outlive its characters
  Rig rig;
  client::Character bound;
};

}  // namespace sinew::python
