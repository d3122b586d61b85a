// arrays.h - numpy arrays in and out.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinew::python {

// An array of any numeric type and layout as contiguous float32, copied only if it is not that yet.
using FloatArray = pybind11::array_t<float, pybind11::array::c_style | pybind11::array::forcecast>;
using DoubleArray =
    pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;
using Shape = std::vector<pybind11::ssize_t>;

inline std::span<const float> Floats(const FloatArray& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// An array of `shape` over values that live as long as `owner`.
template <class T, class Owner>
pybind11::array_t<T> KeptBy(std::shared_ptr<Owner> owner, const T* values, const Shape& shape) {
  auto kept = std::make_unique<std::shared_ptr<Owner>>(std::move(owner));
  const pybind11::capsule base(
      kept.get(), [](void* pointer) { delete static_cast<std::shared_ptr<Owner>*>(pointer); });
  kept.release();
  return pybind11::array_t<T>(shape, values, base);
}

// A read-only view of values of `owner`.
template <class T, class Owner>
pybind11::array View(std::shared_ptr<Owner> owner, std::span<const T> values, const Shape& shape) {
  pybind11::array_t<T> array = KeptBy(std::move(owner), values.data(), shape);
  array.attr("setflags")(pybind11::arg("write") = false);
  return array;
}

// A writable array that owns the values of a vector, without a copy.
template <class T>
pybind11::array Owned(std::vector<T> values, const Shape& shape) {
  auto kept = std::make_shared<std::vector<T>>(std::move(values));
  const T* const data = kept->data();
  return KeptBy(std::move(kept), data, shape);
}

inline pybind11::ssize_t Size(std::size_t count) {
  return static_cast<pybind11::ssize_t>(count);
}

// ValueError with the argument, its shape and what is needed.
[[noreturn]] void RaiseShape(const char* argument, const pybind11::array& got,
                             const std::string& need);

}  // namespace sinew::python
