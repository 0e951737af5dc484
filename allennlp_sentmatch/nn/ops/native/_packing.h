// Packed sentences: those with more than t tokens are the first `sizes[t]`, and their rows of step
// t begin at `first[t]`; see common/packing.py.

#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

namespace {

struct Packing {
  std::vector<int64_t> sizes, first;  // `first` has one number more, that of all rows

  // Copy `num_steps` sizes, which add up to `num_rows`. If they cannot, Python has an error.
  void read(const int64_t* numbers, int64_t num_steps, int64_t num_rows) {
    if (PyErr_Occurred()) return;
    first.push_back(0);
    for (int64_t t = 0; t < num_steps; ++t) {
      if (numbers[t] < 1 || (t > 0 && numbers[t] > sizes[t - 1])) {
        PyErr_SetString(PyExc_ValueError, "sizes must be positive and must not increase");
        return;
      }
      sizes.push_back(numbers[t]);
      first.push_back(first[t] + numbers[t]);
    }
    if (first[num_steps] != num_rows) {
      PyErr_SetString(PyExc_ValueError, "sizes must add up to the rows");
    }
  }
};

}  // namespace
