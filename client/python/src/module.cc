// The module sinew._sinew. The package in client/python/sinew is what users import.
#include <absl/synchronization/mutex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "client/cli/commands/program.h"
#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "server/base/version.h"
#include "server/process/program.h"

namespace sinew::python {

void OnlyFromFunctions(pybind11::handle type) {
  reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = [](PyTypeObject* self, PyObject*,
                                                           PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "%s: cannot be made by its name; see help(sinew)", self->tp_name);
    return nullptr;
  };
}

pybind11::object PathObject(const std::string& path) {
  return pybind11::module_::import("os").attr("fsdecode")(pybind11::bytes(path));
}

namespace {

// Runs the program that the first argument names, and ends the process.
void Run(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const int count = static_cast<int>(arguments.size());
  const pybind11::gil_scoped_release release;
  std::exit(arguments.at(0) == "sinewd" ? server::RunProgram(count, argv.data())
                                        : cli::RunProgram(count, argv.data()));
}

}  // namespace
}  // namespace sinew::python

PYBIND11_MODULE(_sinew, module) {
  // gRPC writes warnings of its own to stderr; errors come as exceptions.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  module.attr("__version__") = pybind11::str(sinew::server::kVersion);
  module.def("_run", sinew::python::Run);
  sinew::python::BindCancellation(module);
  sinew::python::BindClips(module);
  sinew::python::BindRig(module);
  sinew::python::BindFrame(module);
  sinew::python::BindStream(module);
  sinew::python::BindCompare(module);
  sinew::python::BindJoin(module);
  sinew::python::BindClient(module);
  sinew::python::BindRender(module);
}
