// bindings.h - the parts of the module. Each function adds the classes of its file.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "client/bake/character/character_file.h"
#include "client/cli/run/local.h"
#include "client/python/src/arrays.h"
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

// Poses of an array [F, J, 3, 4], or as Matrices takes it. ValueError.
client::ClipData PosesOf(const Field& matrices, const pybind11::object& controls, double fps);
// The clips of a rig, by name.
pybind11::dict ClipsOf(const Rig& rig);

// What Python calls a Client.
struct Connection {
  std::string server;  // for people
  // The client, with the server of this process if it is its own; null after close().
  std::shared_ptr<cli::LocalService> service;

  // For the time of a call. kFailedPrecondition after close(), and in a forked child.
  std::shared_ptr<cli::LocalService> Get() const;
};

// A path as os.fsdecode() returns it.
pybind11::object PathObject(const std::string& path);

// TYPE.__new__ would make an object without a value: raises TypeError instead.
void OnlyFromFunctions(pybind11::handle type);

void BindRig(pybind11::module_& module);
void BindClips(pybind11::module_& module);
void BindRigFromArrays(pybind11::module_& module, pybind11::class_<Rig>& type);
void BindFrame(pybind11::module_& module);
void BindClient(pybind11::module_& module);
void BindStream(pybind11::module_& module);
void BindWatch(pybind11::module_& module,
               pybind11::class_<Connection, std::shared_ptr<Connection>>& client);
void BindCompare(pybind11::module_& module);
void BindJoin(pybind11::module_& module);
void BindRender(pybind11::module_& module);

}  // namespace sinew::python
