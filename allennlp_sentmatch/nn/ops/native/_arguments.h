// The arguments of a call from Python: integers, some of which are addresses.

#pragma once

#include <Python.h>

#include <cstdint>

#include "_threads.h"

namespace {

class Arguments {
 public:
  explicit Arguments(PyObject* tuple, Py_ssize_t first = 0) : tuple_(tuple), next_(first) {}

  int64_t number() {
    if (PyErr_Occurred()) return 0;
    PyObject* item = PyTuple_GetItem(tuple_, next_++);
    return item ? static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(item)) : 0;
  }

  template <typename T>
  T* rows() {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(number()));
  }

  Threads threads() {
    const auto parallel = reinterpret_cast<Parallel>(static_cast<uintptr_t>(number()));
    return {parallel, number()};
  }

  // Whether they were as many as were taken, and numbers. If not, Python has an error.
  bool are_right() const {
    if (!PyErr_Occurred() && next_ != PyTuple_Size(tuple_)) {
      PyErr_SetString(PyExc_TypeError, "too many arguments");
    }
    return !PyErr_Occurred();
  }

 private:
  PyObject* tuple_;
  Py_ssize_t next_;
};

// A function for Python, of which the first argument tells whether the numbers are doubles.
template <PyObject* (*of_doubles)(Arguments), PyObject* (*of_floats)(Arguments)>
PyObject* call(PyObject*, PyObject* tuple) {
  Arguments arguments(tuple);
  return arguments.number() ? of_doubles(arguments) : of_floats(arguments);
}

}  // namespace
