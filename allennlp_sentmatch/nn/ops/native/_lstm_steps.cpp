// A step of `lstm_layer` and its derivative on a CPU, each in one pass over memory.
//
// lstm_layer_compiled.py gives addresses of contiguous rows, those of one step in one direction.
// Gates lie side by side in a row: [i; f; g; o; v].

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "_arguments.h"
#include "_elementwise.h"
#include "_threads.h"

namespace {

// `recurrent`, in rows of `recurrent_step` numbers, and `left_cell` have `num_left` rows; past them
// `zeros` stands in. In an LSTM `lower` is null, without peepholes `peephole_left`.
template <typename T>
struct Step {
  int64_t n, num_left, H, recurrent_step;
  T* gates;
  const T *recurrent, *left_cell, *lower, *left_weight, *lower_weight, *peephole_left, *zeros;
  T *hidden, *cell;
};

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE>
INLINE void read_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H, width = (HAS_LOWER ? 5 : 4) * H;
  const T* __restrict left_weight = step.left_weight;
  const T* __restrict lower_weight = step.lower_weight;
  const T* __restrict peephole = step.peephole_left;
  for (int64_t row = begin; row < end; ++row) {
    const bool goes_on = row < step.num_left;
    const T* __restrict u = goes_on ? step.recurrent + row * step.recurrent_step : step.zeros;
    const T* __restrict left = goes_on ? step.left_cell + row * H : step.zeros;
    const T* __restrict lower = HAS_LOWER ? step.lower + row * H : nullptr;
    T* __restrict a = step.gates + row * width;
    T* __restrict h = step.hidden + row * H;
    T* __restrict c = step.cell + row * H;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = sigmoid(a[j] + u[j]);
      const T f = sigmoid(a[H + j] + u[H + j]);
      const T g = hyperbolic_tangent(a[2 * H + j] + u[2 * H + j]);
      const T o = sigmoid(a[3 * H + j] + u[3 * H + j]);
      T total = i * g + left_weight[j] * f * left[j];
      if (HAS_LOWER) {
        const T context = HAS_PEEPHOLE ? peephole[j] * left[j] : u[4 * H + j];
        const T v = sigmoid(a[4 * H + j] + context);
        total += lower_weight[j] * v * lower[j];
        a[4 * H + j] = v;
      }
      a[j] = i;
      a[H + j] = f;
      a[2 * H + j] = g;
      a[3 * H + j] = o;
      c[j] = total;
      h[j] = o * hyperbolic_tangent(total);
    }
  }
}

// The gradients of h from the step after, `recurrent`, have `num_after` rows. `from_after` is that
// of c from the step after, and becomes that for the step before. `grad_cell` may be null.
// `by_left_weight` is added to.
template <typename T>
struct StepBack {
  int64_t n, num_left, num_after, H;
  T* gates;
  const T *cell, *left_cell, *lower, *left_weight, *lower_weight, *peephole_left, *zeros;
  const T *grad_hidden, *recurrent, *grad_cell;
  T *from_after, *grad_lower, *by_left_weight;
};

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE>
INLINE void read_rows_back(const StepBack<T>& step, int64_t part, int64_t begin, int64_t end) {
  const int64_t H = step.H, width = (HAS_LOWER ? 5 : 4) * H;
  const T* __restrict left_weight = step.left_weight;
  const T* __restrict lower_weight = step.lower_weight;
  const T* __restrict peephole = step.peephole_left;
  T* __restrict by_left_weight = step.by_left_weight + part * H;
  for (int64_t row = begin; row < end; ++row) {
    const T* __restrict c = step.cell + row * H;
    const T* __restrict left = row < step.num_left ? step.left_cell + row * H : step.zeros;
    const T* __restrict lower = HAS_LOWER ? step.lower + row * H : nullptr;
    const T* __restrict outer = step.grad_hidden + row * H;
    const T* __restrict inner = row < step.num_after ? step.recurrent + row * H : step.zeros;
    const T* __restrict outer_c = step.grad_cell ? step.grad_cell + row * H : step.zeros;
    T* __restrict a = step.gates + row * width;
    T* __restrict carried = step.from_after + row * H;
    T* __restrict grad_lower = HAS_LOWER ? step.grad_lower + row * H : nullptr;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = a[j], f = a[H + j], g = a[2 * H + j], o = a[3 * H + j];
      const T tanh_c = hyperbolic_tangent(c[j]);
      const T dh = outer[j] + inner[j];
      const T dc = outer_c[j] + carried[j] + dh * o * (T(1) - tanh_c * tanh_c);
      const T by_forget = dc * left[j];
      by_left_weight[j] += by_forget * f;
      a[j] = dc * g * i * (T(1) - i);
      a[H + j] = by_forget * left_weight[j] * f * (T(1) - f);
      a[2 * H + j] = dc * i * (T(1) - g * g);
      a[3 * H + j] = dh * tanh_c * o * (T(1) - o);
      T to_left = dc * left_weight[j] * f;
      if (HAS_LOWER) {
        const T v = a[4 * H + j];
        const T by_lower = dc * lower_weight[j] * v;
        const T dv = by_lower * lower[j] * (T(1) - v);
        grad_lower[j] = by_lower;
        a[4 * H + j] = dv;
        if (HAS_PEEPHOLE) to_left += dv * peephole[j];
      }
      carried[j] = to_left;
    }
  }
}

template <typename T>
INLINE void read_any(const Step<T>& step, int64_t begin, int64_t end) {
  if (step.peephole_left) {
    read_rows<T, true, true>(step, begin, end);
  } else if (step.lower) {
    read_rows<T, true, false>(step, begin, end);
  } else {
    read_rows<T, false, false>(step, begin, end);
  }
}

template <typename T>
INLINE void read_any_back(const StepBack<T>& step, int64_t part, int64_t begin, int64_t end) {
  if (step.peephole_left) {
    read_rows_back<T, true, true>(step, part, begin, end);
  } else if (step.lower) {
    read_rows_back<T, true, false>(step, part, begin, end);
  } else {
    read_rows_back<T, false, false>(step, part, begin, end);
  }
}

FOR_EACH_PROCESSOR void read(const Step<float>& step, int64_t begin, int64_t end) {
  read_any(step, begin, end);
}
FOR_EACH_PROCESSOR void read(const Step<double>& step, int64_t begin, int64_t end) {
  read_any(step, begin, end);
}
FOR_EACH_PROCESSOR
void read_back(const StepBack<float>& step, int64_t part, int64_t begin, int64_t end) {
  read_any_back(step, part, begin, end);
}
FOR_EACH_PROCESSOR
void read_back(const StepBack<double>& step, int64_t part, int64_t begin, int64_t end) {
  read_any_back(step, part, begin, end);
}

template <typename T>
PyObject* read_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const Step<T> step = {
      arguments.number(),  arguments.number(),  arguments.number(),  arguments.number(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, step.n, [&](int64_t, int64_t begin, int64_t end) { read(step, begin, end); });
  Py_RETURN_NONE;
}

template <typename T>
PyObject* read_back_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const StepBack<T> step = {
      arguments.number(),  arguments.number(),  arguments.number(),  arguments.number(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(), arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, step.n, [&](int64_t part, int64_t begin, int64_t end) {
    read_back(step, part, begin, end);
  });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"read", call<read_as<double>, read_as<float>>, METH_VARARGS,
     "Whether they are doubles, the threads, and the fields of a Step."},
    {"read_back", call<read_back_as<double>, read_back_as<float>>, METH_VARARGS,
     "The same, of a StepBack."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lstm_steps", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__lstm_steps() { return PyModule_Create(&module); }
