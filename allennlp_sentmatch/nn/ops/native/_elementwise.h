// Shared by the compiled steps: activations that a compiler can vectorize, and the loops for that.

#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
// The loop that follows adds to `variable`, in any order. It takes -fopenmp-simd, but no library.
#define PRAGMA(directive) _Pragma(#directive)
#define SUM(variable) PRAGMA(omp simd reduction(+ : variable))
#define INLINED __attribute__((always_inline))
#define INLINE inline INLINED

namespace {

// For arguments of which the result is a normal number:
// exp(x) = 2^k exp(r) with k the integer next to x / ln 2 and r the rest, below ln(2) / 2, for
// which a Taylor series of so many terms is as exact as the type. ln 2 has two parts, for r to be
// exact. Adding `shift` rounds to an integer, then in the lowest bits; 2^k has it as exponent.
INLINE float exponential_within(float x) {
  const float shift = 12582912.f;  // 1.5 * 2^23
  const float shifted = x * 1.44269504f + shift;
  const float k = shifted - shift;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float y = 1.f / 5040;
  y = y * r + 1.f / 720;
  y = y * r + 1.f / 120;
  y = y * r + 1.f / 24;
  y = y * r + 1.f / 6;
  y = y * r + 1.f / 2;
  y = y * r + 1.f;
  y = y * r + 1.f;
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return y * power;
}

INLINE double exponential_within(double x) {
  const double shift = 6755399441055744.;  // 1.5 * 2^52
  const double shifted = x * 1.4426950408889634 + shift;
  const double k = shifted - shift;
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double y = 1. / 6227020800.;
  y = y * r + 1. / 479001600.;
  y = y * r + 1. / 39916800.;
  y = y * r + 1. / 3628800.;
  y = y * r + 1. / 362880.;
  y = y * r + 1. / 40320.;
  y = y * r + 1. / 5040.;
  y = y * r + 1. / 720.;
  y = y * r + 1. / 120.;
  y = y * r + 1. / 24.;
  y = y * r + 1. / 6.;
  y = y * r + 1. / 2.;
  y = y * r + 1.;
  y = y * r + 1.;
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return y * power;
}

INLINE float exponential(float x) {
  x = x < -87.f ? -87.f : x;
  return exponential_within(x > 88.f ? 88.f : x);
}

INLINE double exponential(double x) {
  x = x < -708. ? -708. : x;
  return exponential_within(x > 709. ? 709. : x);
}

// Beyond 40 it is 0 or 1, to within 5e-18. Compilers multiply the results at both ends in every
// vector. At the ends of the exponential's range they would be denormal, and each such product
// would take a hundred times as long.
template <typename T>
INLINE T sigmoid(T x) {
  x = x < T(-40) ? T(-40) : x;
  x = x > T(40) ? T(40) : x;
  return T(1) / (T(1) + exponential_within(-x));
}

// Zero for numbers so small that their products with gates and weights could be denormal, which
// would take a hundred times as long: a gradient that has vanished over many steps.
template <typename T>
INLINE T without_vanished(T x) {
  const T limit = std::numeric_limits<T>::min() * T(1e8);
  return x > -limit && x < limit ? T(0) : x;
}

template <typename T>
INLINE T hyperbolic_tangent(T x) {
  return T(2) * sigmoid(T(2) * x) - T(1);
}

}  // namespace
