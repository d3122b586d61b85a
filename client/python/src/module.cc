// The module sinew._sinew. The package in client/python/sinew is what users import.
#include <absl/synchronization/mutex.h>
#include <pybind11/pybind11.h>

#include <cstdlib>

#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "server/base/version.h"

namespace sinew::python {

void OnlyFromFunctions(pybind11::handle type) {
  reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new = [](PyTypeObject* self, PyObject*,
                                                           PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "%s: cannot be made by its name; see help(sinew)", self->tp_name);
    return nullptr;
  };
}

}  // namespace sinew::python

PYBIND11_MODULE(_sinew, module) {
  // gRPC writes warnings of its own to stderr; errors come as exceptions.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  module.attr("__version__") = pybind11::str(sinew::server::kVersion);
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
