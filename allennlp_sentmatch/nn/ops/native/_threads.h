// The functions of the library. They share rows among torch's threads: a second pool would compete
// with these for cores.
//
// common/native.py calls a function with one argument, a structure of numbers and addresses of
// tables, whose fields it declares with the same names in the same order. Python checks the tables;
// the functions trust them, allocate nothing and raise nothing.

#pragma once

#include <atomic>
#include <cstdint>

#include "_elementwise.h"

namespace {

// GOMP_parallel of the OpenMP library that torch runs on: (function, its argument, threads, flags)
// calls the function in each thread, and waits.
using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);

// The first fields of each structure.
struct Threads {
  Parallel parallel;  // null with one thread
  int64_t number;
  int64_t min_numbers;  // Less work is done by one thread.
};

// Calls `body(part, begin, end)` for one part of `n` rows, or for as many parts as there are
// threads: changing the number of threads would end and start some.
template <typename Body>
void for_parts(const Threads& threads, int64_t n, int64_t numbers, const Body& body) {
  if (threads.number <= 1 || numbers < threads.min_numbers) {
    body(int64_t(0), int64_t(0), n);
    return;
  }
  struct Work {
    const Body* body;
    int64_t n, parts;
    std::atomic<int64_t> next;
  } work{&body, n, threads.number, {0}};
  threads.parallel(
      [](void* data) {
        Work& work = *static_cast<Work*>(data);
        for (int64_t part; (part = work.next++) < work.parts;) {
          (*work.body)(part, work.n * part / work.parts, work.n * (part + 1) / work.parts);
        }
      },
      &work, static_cast<unsigned>(threads.number), 0);
}

}  // namespace

// A checksum of the sources, defined by setup.py.
extern "C" __attribute__((weak)) const int64_t sources = SOURCES;

// Defines the functions `name_float` and `name_double` of the library. They share the
// `x.num_rows()` rows of a structure x among threads and call `name(x, part, begin, end)` for each
// part; `x.num_numbers()` is the size of the work.
#define FUNCTION(name, Structure)                                                               \
  FUNCTION_OF(name, name##_float, Structure<float>)                                             \
  FUNCTION_OF(name, name##_double, Structure<double>)
#define FUNCTION_OF(name, exported, Structure)                                                  \
  namespace {                                                                                   \
  FOR_EACH_PROCESSOR                                                                            \
  void exported##_part(Structure& x, int64_t part, int64_t begin, int64_t end) {                \
    name(x, part, begin, end);                                                                  \
  }                                                                                             \
  }                                                                                             \
  extern "C" void exported(Structure* x) {                                                      \
    for_parts(x->threads, x->num_rows(), x->num_numbers(),                                      \
              [x](int64_t part, int64_t begin, int64_t end) {                                   \
                exported##_part(*x, part, begin, end);                                          \
              });                                                                               \
  }
