// A step of SuBiLSTM's LSTM and its derivative on a CPU, each in one pass over memory.
//
// suffix/cpu.py gives addresses, which it has checked, of the rows of R suffixes of N sentences in
// one direction. A suffix's rows are contiguous; so are the rows of all suffixes, except for those
// of `x` and of the states or their gradients. Gates are adjacent: [i; f; g; o].

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <cstring>

#include "_arguments.h"
#include "_elementwise.h"
#include "_threads.h"

namespace {

// `x_step` and `state_step` are the distances from the rows of one suffix to those of the next. A
// null `u` is zero. `prefixes` is null or a buffer for the first suffix's h; `gates`, `old_cell`
// and `tanh_cell` are null or buffers for the values that the backward pass needs.
template <typename T>
struct Step {
  int64_t R, N, H, x_step, state_step;
  const T *x, *u;
  T *hidden, *cell, *prefixes, *gates, *old_cell, *tanh_cell;
};

template <typename T, bool HAS_U, bool IS_KEPT>
INLINE void forward_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t N = step.N, H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t suffix = row / N, sentence = row % N;
    const T* __restrict x = step.x + suffix * step.x_step + sentence * 4 * H;
    const T* __restrict u = HAS_U ? step.u + row * 4 * H : nullptr;
    T* __restrict h = step.hidden + suffix * step.state_step + sentence * H;
    T* __restrict c = step.cell + suffix * step.state_step + sentence * H;
    T* __restrict a = IS_KEPT ? step.gates + row * 4 * H : nullptr;
    T* __restrict old_cell = IS_KEPT ? step.old_cell + row * H : nullptr;
    T* __restrict tanh_cell = IS_KEPT ? step.tanh_cell + row * H : nullptr;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = sigmoid(HAS_U ? x[j] + u[j] : x[j]);
      const T f = sigmoid(HAS_U ? x[H + j] + u[H + j] : x[H + j]);
      const T g = hyperbolic_tangent(HAS_U ? x[2 * H + j] + u[2 * H + j] : x[2 * H + j]);
      const T o = sigmoid(HAS_U ? x[3 * H + j] + u[3 * H + j] : x[3 * H + j]);
      const T old = c[j];
      const T total = f * old + i * g;
      const T tanh_c = hyperbolic_tangent(total);
      if (IS_KEPT) {
        a[j] = i;
        a[H + j] = f;
        a[2 * H + j] = g;
        a[3 * H + j] = o;
        old_cell[j] = old;
        tanh_cell[j] = tanh_c;
      }
      c[j] = total;
      h[j] = o * tanh_c;
    }
    if (suffix == 0 && step.prefixes) std::memcpy(step.prefixes + sentence * H, h, H * sizeof(T));
  }
}

// `grad_hidden` and `grad_cell`, with `state_step` as above, are those of h' and c' and become
// those of h and c, except for the part through U h. `out` is a buffer for the gradients of x.
template <typename T>
struct StepBackward {
  int64_t R, N, H, state_step;
  T *grad_hidden, *grad_cell;
  const T *gates, *old_cell, *tanh_cell;
  T* out;
};

template <typename T>
INLINE void backward_rows(const StepBackward<T>& step, int64_t begin, int64_t end) {
  const int64_t N = step.N, H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t state = row / N * step.state_step + row % N * H;
    T* __restrict grad_hidden = step.grad_hidden + state;
    T* __restrict grad_cell = step.grad_cell + state;
    const T* __restrict a = step.gates + row * 4 * H;
    const T* __restrict old_cell = step.old_cell + row * H;
    const T* __restrict tanh_cell = step.tanh_cell + row * H;
    T* __restrict out = step.out + row * 4 * H;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = a[j], f = a[H + j], g = a[2 * H + j], o = a[3 * H + j];
      const T dh = without_vanished(grad_hidden[j]), tanh_c = tanh_cell[j];
      const T dc = without_vanished(grad_cell[j] + dh * o * (T(1) - tanh_c * tanh_c));
      out[j] = dc * g * i * (T(1) - i);
      out[H + j] = dc * old_cell[j] * f * (T(1) - f);
      out[2 * H + j] = dc * i * (T(1) - g * g);
      out[3 * H + j] = dh * tanh_c * o * (T(1) - o);
      grad_cell[j] = dc * f;
      grad_hidden[j] = T(0);
    }
  }
}

template <typename T>
INLINE void forward_any(const Step<T>& step, int64_t begin, int64_t end) {
  if (step.u && step.gates) {
    forward_rows<T, true, true>(step, begin, end);
  } else if (step.u) {
    forward_rows<T, true, false>(step, begin, end);
  } else if (step.gates) {
    forward_rows<T, false, true>(step, begin, end);
  } else {
    forward_rows<T, false, false>(step, begin, end);
  }
}

FOR_EACH_PROCESSOR void forward(const Step<float>& step, int64_t begin, int64_t end) {
  forward_any(step, begin, end);
}
FOR_EACH_PROCESSOR void forward(const Step<double>& step, int64_t begin, int64_t end) {
  forward_any(step, begin, end);
}
FOR_EACH_PROCESSOR void backward(const StepBackward<float>& step, int64_t begin, int64_t end) {
  backward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR void backward(const StepBackward<double>& step, int64_t begin, int64_t end) {
  backward_rows(step, begin, end);
}

template <typename T>
PyObject* forward_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const Step<T> step = {
      arguments.number(),  arguments.number(),  arguments.number(),  arguments.number(),
      arguments.number(),  arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, step.R * step.N,
            [&](int64_t, int64_t begin, int64_t end) { forward(step, begin, end); });
  Py_RETURN_NONE;
}

template <typename T>
PyObject* backward_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const StepBackward<T> step = {
      arguments.number(),  arguments.number(),  arguments.number(),  arguments.number(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, step.R * step.N,
            [&](int64_t, int64_t begin, int64_t end) { backward(step, begin, end); });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"forward", call<forward_as<double>, forward_as<float>>, METH_VARARGS,
     "Whether they are doubles, the threads, and the fields of a Step."},
    {"backward", call<backward_as<double>, backward_as<float>>, METH_VARARGS,
     "The same, of a StepBackward."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_suffix_steps", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__suffix_steps() { return PyModule_Create(&module); }
