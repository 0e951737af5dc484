// Work on rows shared among threads: torch's, as a second pool would compete with them for cores.

#pragma once

#include <atomic>
#include <cstdint>

namespace {

// GOMP_parallel of the OpenMP library that torch runs on: (function, its argument, threads, flags)
// calls the function in each thread, and waits.
using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);

// With one thread `parallel` is not called, and may be null.
struct Threads {
  Parallel parallel;
  int64_t number;
};

// Calls `body(part, begin, end)` for as many parts of `n` rows as there are threads.
template <typename Body>
void for_parts(const Threads& threads, int64_t n, const Body& body) {
  if (threads.number <= 1) {
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
