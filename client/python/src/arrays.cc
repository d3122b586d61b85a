#include "client/python/src/arrays.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "client/python/src/errors.h"

namespace sinew::python {

void RaiseShape(const char* argument, const pybind11::array& got, const std::string& need) {
  const Shape shape(got.shape(), got.shape() + got.ndim());
  Raise(absl::InvalidArgumentError(absl::StrCat(argument, ": got an array of shape (",
                                                absl::StrJoin(shape, ", "), "), need ", need)));
}

}  // namespace sinew::python
