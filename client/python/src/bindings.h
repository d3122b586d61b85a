// bindings.h - the parts of the module. Each function adds the classes of its file.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "client/bake/character/character_file.h"
#include "client/cli/run/local.h"
#include "sinew/client.h"

namespace sinew::python {

// What Python calls a Rig: with its clips, if it was read from a file that has some.
struct Rig {
  std::shared_ptr<const bake::CharacterFile> file;
  std::string path = {};  // that it was read from, or empty

  const client::RigData& data() const { return file->rig; }
};

// Poses with control values, as Clip.poses() returns them.
struct Poses {
  std::shared_ptr<const client::ClipData> clip;
};

// What Python calls a Client.
struct Connection {
  // The client, with the server of this process if it is its own; null after close().
  std::shared_ptr<cli::LocalService> service;

  // For the time of a call. kFailedPrecondition after close().
  std::shared_ptr<cli::LocalService> Get() const;
};

// TYPE.__new__ would make an object without a value: raises TypeError instead.
void OnlyFromFunctions(pybind11::handle type);

void BindRig(pybind11::module_& module);
void BindRigFromArrays(pybind11::module_& module, pybind11::class_<Rig>& type);
void BindFrame(pybind11::module_& module);
void BindClient(pybind11::module_& module);
void BindStream(pybind11::module_& module);
void BindCompare(pybind11::module_& module);
void BindJoin(pybind11::module_& module);
void BindRender(pybind11::module_& module);

}  // namespace sinew::python
