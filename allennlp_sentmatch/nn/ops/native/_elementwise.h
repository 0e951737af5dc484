// Activations that a compiler can vectorize, and the macros of vectorized loops.

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
// The loop that follows adds to `variable` in any order. This needs -fopenmp-simd, but no library.
#define PRAGMA(directive) _Pragma(#directive)
#define SUM(variable) PRAGMA(omp simd reduction(+ : variable))
#define INLINED __attribute__((always_inline))
#define INLINE inline INLINED

namespace {

// The constants of `exponential` for a type.
template <typename T>
struct Exponential;

template <>
struct Exponential<float> {
  using Bits = uint32_t;
  static constexpr int degree = 7, bias = 127, mantissa_bits = 23;
  static constexpr float shift = 12582912.f;  // 1.5 * 2^23
  static constexpr float inverse_ln2 = 1.44269504f;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float lowest = -87.f, highest = 88.f;  // beyond, not a normal number
};

template <>
struct Exponential<double> {
  using Bits = uint64_t;
  static constexpr int degree = 13, bias = 1023, mantissa_bits = 52;
  static constexpr double shift = 6755399441055744.;  // 1.5 * 2^52
  static constexpr double inverse_ln2 = 1.4426950408889634;
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double lowest = -708., highest = 709.;
};

constexpr int64_t factorial(int n) { return n == 0 ? 1 : n * factorial(n - 1); }

// The terms of the series of exp(r) from number n on, divided by r^n. Compilers do not vectorize a
// loop over these terms: it takes 15 times as long.
template <typename T, int n = 0>
INLINE T taylor_series(T r) {
  constexpr T coefficient = T(1) / factorial(n);
  if constexpr (n == Exponential<T>::degree) {
    return coefficient;
  } else {
    return taylor_series<T, n + 1>(r) * r + coefficient;
  }
}

// exp(x) for an x between `lowest` and `highest`. It is 2^k exp(r), where k is the integer nearest
// to x / ln 2. The rest r is at most ln(2) / 2, where the Taylor series is as exact as the type.
// ln 2 has two parts, so that r is exact.
template <typename T>
INLINE T exponential_within(T x) {
  using E = Exponential<T>;
  // Adding `shift` rounds to an integer, which is then in the lowest bits.
  const T shifted = x * E::inverse_ln2 + E::shift;
  const T k = shifted - E::shift;
  const T r = (x - k * E::ln2_high) - k * E::ln2_low;
  typename E::Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + E::bias) << E::mantissa_bits;  // the exponent of 2^k
  T power;
  std::memcpy(&power, &bits, sizeof power);
  return taylor_series(r) * power;
}

template <typename T>
INLINE T exponential(T x) {
  x = x < Exponential<T>::lowest ? Exponential<T>::lowest : x;
  return exponential_within(x > Exponential<T>::highest ? Exponential<T>::highest : x);
}

// Beyond 40 it is 0 or 1, to within 5e-18. Compilers compute the results at both ends for every
// vector. At the ends of the exponential's range these products would be denormal numbers, which
// take a hundred times as long.
template <typename T>
INLINE T sigmoid(T x) {
  x = x < T(-40) ? T(-40) : x;
  x = x > T(40) ? T(40) : x;
  return T(1) / (T(1) + exponential_within(-x));
}

// Zero for a gradient that has vanished over many steps: its products with gates and weights could
// be denormal numbers, which take a hundred times as long.
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
