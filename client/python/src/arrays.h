// arrays.h - numpy arrays in and out.
#pragma once

#include <absl/strings/str_cat.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

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

inline std::vector<float> Values(const FloatArray& array) {
  const auto floats = Floats(array);
  return {floats.begin(), floats.end()};
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

// An argument, or an attribute of an object from Python: the value and its name in messages.
struct Field {
  pybind11::object value;
  std::string name;

  explicit operator bool() const { return !value.is_none(); }
};

// ValueError: "FIELD: PROBLEM".
[[noreturn]] void RaiseField(const Field& field, const std::string& problem);

inline Shape ShapeOf(const pybind11::array& array) {
  return {array.shape(), array.shape() + array.ndim()};
}
// "(792,)", as numpy writes it.
std::string ShapeText(const Shape& shape);
// ValueError with the argument, its shape and what is needed.
[[noreturn]] void RaiseShape(const std::string& argument, const pybind11::array& got,
                             const std::string& need);

// ValueError: the value is no array of real numbers, or has a mask; `need`, such as "numbers", is
// what it has to hold.
pybind11::array Numbers(const Field& field, const char* need = "numbers");
[[noreturn]] void RaiseNumbers(const Field& field, const char* need);

// The array of a field, converted. Errors of Numbers.
template <class Array>
Array ToArray(const Field& field, const char* need = "numbers") {
  Array array = Array::ensure(Numbers(field, need));
  if (array) return array;
  PyErr_Clear();
  RaiseNumbers(field, need);
}

// The array of a field, which must have this shape. ValueError.
template <class Array>
Array OfShape(const Field& field, const Shape& need) {
  Array array = ToArray<Array>(field);
  if (ShapeOf(array) != need) RaiseShape(field.name, array, ShapeText(need));
  return array;
}

// [lead..., 3, 4] or [lead..., 12], made of [lead..., 4, 4] too. A size of -1 is any; `text` is
// what messages call the sizes then. ValueError: another shape, or 4x4 matrices whose last row is
// not 0 0 0 1.
pybind11::array Matrices(const Field& field, const Shape& lead, std::string text);

template <class Array>
Array ToMatrices(const Field& field, const Shape& lead, const std::string& text = "") {
  return ToArray<Array>({Matrices(field, lead, text), field.name});
}

// What __array__ of an object that has this array returns.
pybind11::object AsArray(const pybind11::array& array, const pybind11::object& type,
                         const pybind11::object& copy);

}  // namespace sinew::python
