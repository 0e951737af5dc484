// Tables that Python binds once, so that a step is called with a few numbers.
//
// A module binds tables to a subclass of `Bound`, which it gives to Python in a capsule. Python has
// checked each table (common/native_tables.py); `run` checks that a step lies within them.

#pragma once

#include <Python.h>

#include <cstdint>

#include "_arguments.h"
#include "_threads.h"

namespace {

constexpr char CAPSULE[] = "allennlp_sentmatch.nn.ops.native.Bound";

class Bound {
 public:
  virtual ~Bound() = default;
  // Run a step. Where the arguments are wrong, leave an error for Python and do nothing.
  virtual void run(Arguments& step) = 0;

 protected:
  // The threads for work on so many numbers: one or all, as between calls with different numbers of
  // threads, some are ended and started.
  static Threads share(const Threads& threads, int64_t numbers, int64_t min_numbers) {
    return {threads.parallel, numbers < min_numbers ? 1 : threads.number};
  }

  static bool check(bool is_within) {
    if (!is_within) PyErr_SetString(PyExc_IndexError, "the step is not within its tables");
    return is_within;
  }
};

// Whether there are `size` rows from `start` on among `total`.
inline bool has_rows(int64_t start, int64_t size, int64_t total) {
  return start >= 0 && size >= 0 && size <= total && start <= total - size;
}

void destroy(PyObject* capsule) {
  delete static_cast<Bound*>(PyCapsule_GetPointer(capsule, CAPSULE));
}

// Functions for Python. To bind: whether the tables are of doubles, and a `Bound`'s arguments.
template <template <typename> class B>
PyObject* bind(PyObject*, PyObject* tuple) {
  Arguments arguments(tuple);
  const bool is_double = arguments.number();
  Bound* bound = is_double ? static_cast<Bound*>(new B<double>(arguments)) : new B<float>(arguments);
  PyObject* capsule = arguments.are_right() ? PyCapsule_New(bound, CAPSULE, destroy) : nullptr;
  if (!capsule) delete bound;
  return capsule;
}

// To run a step: a capsule, and what its `run` takes.
PyObject* run(PyObject*, PyObject* tuple) {
  PyObject* capsule = PyTuple_GetItem(tuple, 0);
  if (!capsule) return nullptr;
  auto* bound = static_cast<Bound*>(PyCapsule_GetPointer(capsule, CAPSULE));
  if (!bound) return nullptr;
  Arguments step(tuple, 1);
  bound->run(step);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace
