// A step of an LSTM or CAS-LSTM layer and its derivative on a CPU, each in one pass over memory.
//
// lstm/cpu.py binds the tables of a layer. The gates are side by side in a row: [i; f; g; o; v].

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <algorithm>
#include <vector>

#include "_arguments.h"
#include "_binding.h"
#include "_elementwise.h"
#include "_threads.h"

namespace {

// `recurrent`, in rows of `recurrent_step` numbers, and `left_cell` have `num_left` rows; past them
// `zeros` is used instead. In an LSTM `lower` is null, without peepholes `peephole_left`.
template <typename T>
struct Step {
  int64_t n, num_left, H, recurrent_step;
  T* gates;
  const T *recurrent, *left_cell, *lower, *left_weight, *lower_weight, *peephole_left, *zeros;
  T *hidden, *cell;
};

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE>
INLINE void forward_rows(const Step<T>& step, int64_t begin, int64_t end) {
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
struct StepBackward {
  int64_t n, num_left, num_after, H;
  T* gates;
  const T *cell, *left_cell, *lower, *left_weight, *lower_weight, *peephole_left, *zeros;
  const T *grad_hidden, *recurrent, *grad_cell;
  T *from_after, *grad_lower, *by_left_weight;
};

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE>
INLINE void backward_rows(const StepBackward<T>& step, int64_t part, int64_t begin, int64_t end) {
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
INLINE void forward_any(const Step<T>& step, int64_t begin, int64_t end) {
  if (step.peephole_left) {
    forward_rows<T, true, true>(step, begin, end);
  } else if (step.lower) {
    forward_rows<T, true, false>(step, begin, end);
  } else {
    forward_rows<T, false, false>(step, begin, end);
  }
}

template <typename T>
INLINE void backward_any(const StepBackward<T>& step, int64_t part, int64_t begin, int64_t end) {
  if (step.peephole_left) {
    backward_rows<T, true, true>(step, part, begin, end);
  } else if (step.lower) {
    backward_rows<T, true, false>(step, part, begin, end);
  } else {
    backward_rows<T, false, false>(step, part, begin, end);
  }
}

FOR_EACH_PROCESSOR void forward(const Step<float>& step, int64_t begin, int64_t end) {
  forward_any(step, begin, end);
}
FOR_EACH_PROCESSOR void forward(const Step<double>& step, int64_t begin, int64_t end) {
  forward_any(step, begin, end);
}
FOR_EACH_PROCESSOR
void backward(const StepBackward<float>& step, int64_t part, int64_t begin, int64_t end) {
  backward_any(step, part, begin, end);
}
FOR_EACH_PROCESSOR
void backward(const StepBackward<double>& step, int64_t part, int64_t begin, int64_t end) {
  backward_any(step, part, begin, end);
}

// The tables of a layer in S directions, (S, N, ...), of N rows, a token each, and H numbers a row.
template <typename T>
struct Layer {
  explicit Layer(Arguments& arguments)
      : threads(arguments.threads()),
        min_numbers(arguments.number()),
        S(arguments.number()),
        N(arguments.number()),
        H(arguments.number()),
        gates(arguments.rows<T>()),
        hidden(arguments.rows<T>()),
        cell(arguments.rows<T>()),
        left_cell(arguments.rows<T>()),
        lower(arguments.rows<T>()),
        left_weight(arguments.rows<T>()),
        lower_weight(arguments.rows<T>()),
        peephole_left(arguments.rows<T>()),
        zeros(5 * std::max<int64_t>(H, 0)) {}

  int64_t num_gates() const { return lower ? 5 : 4; }
  // Row `row` of a table in direction `s`, of `width` numbers a row; null without a table.
  template <typename U>
  U* at(U* table, int64_t s, int64_t row, int64_t width) const {
    return table ? table + (s * N + row) * width : nullptr;
  }
  // The vector of direction `s`.
  const T* vector(const T* vectors, int64_t s) const { return vectors ? vectors + s * H : nullptr; }

  Threads threads;
  int64_t min_numbers, S, N, H;
  T *gates, *hidden, *cell;
  const T *left_cell, *lower, *left_weight, *lower_weight, *peephole_left;
  std::vector<T> zeros;
};

template <typename T>
class Forward : public Bound {
 public:
  explicit Forward(Arguments& arguments)
      : layer_(arguments), recurrent_width_(arguments.number()) {}

  // The direction, the first row, that of the cells on the left, the number of rows, and U h for
  // them: null where nothing is on the left.
  void run(Arguments& arguments) override {
    const Layer<T>& layer = layer_;
    const int64_t s = arguments.number(), start = arguments.number(),
                  left_start = arguments.number(), n = arguments.number(), H = layer.H;
    const T* recurrent = arguments.rows<T>();
    if (!arguments.are_right() ||
        !check(has_rows(s, 1, layer.S) && has_rows(start, n, layer.N) &&
               (!recurrent || has_rows(left_start, n, layer.N)))) {
      return;
    }
    const int64_t width = layer.num_gates() * H;
    const Step<T> step = {n,
                          recurrent ? n : 0,
                          H,
                          recurrent_width_,
                          layer.at(layer.gates, s, start, width),
                          recurrent,
                          recurrent ? layer.at(layer.left_cell, s, left_start, H) : nullptr,
                          layer.at(layer.lower, s, start, H),
                          layer.vector(layer.left_weight, s),
                          layer.vector(layer.lower_weight, s),
                          layer.vector(layer.peephole_left, s),
                          layer.zeros.data(),
                          layer.at(layer.hidden, s, start, H),
                          layer.at(layer.cell, s, start, H)};
    for_parts(share(layer.threads, n * width, layer.min_numbers), n,
              [&](int64_t, int64_t begin, int64_t end) { forward(step, begin, end); });
  }

 private:
  const Layer<T> layer_;
  const int64_t recurrent_width_;
};

template <typename T>
class Backward : public Bound {
 public:
  explicit Backward(Arguments& arguments)
      : layer_(arguments),
        num_carried_(arguments.number()),
        grad_hidden_(arguments.rows<T>()),
        grad_cell_(arguments.rows<T>()),
        carried_(arguments.rows<T>()),
        grad_lower_(arguments.rows<T>()),
        grad_left_weight_(arguments.rows<T>()) {}

  // The direction, the first row, that of the cells on the left or -1, the number of rows, and how
  // many of these have a step after them, with the gradients of their h from there.
  void run(Arguments& arguments) override {
    const Layer<T>& layer = layer_;
    const int64_t s = arguments.number(), start = arguments.number(),
                  left_start = arguments.number(), n = arguments.number(),
                  num_after = arguments.number(), H = layer.H;
    const T* recurrent = arguments.rows<T>();
    const bool has_left = left_start >= 0;
    // The gradients of c from the step after have a row for each token or for each sentence.
    const int64_t carried_start = num_carried_ == layer.N ? start : 0;
    if (!arguments.are_right() ||
        !check(has_rows(s, 1, layer.S) && has_rows(start, n, layer.N) &&
               (!has_left || has_rows(left_start, n, layer.N)) && has_rows(0, num_after, n) &&
               (recurrent || num_after == 0) && has_rows(carried_start, n, num_carried_))) {
      return;
    }
    const int64_t width = layer.num_gates() * H;
    const StepBackward<T> step = {n,
                              has_left ? n : 0,
                              num_after,
                              H,
                              layer.at(layer.gates, s, start, width),
                              layer.at(layer.cell, s, start, H),
                              has_left ? layer.at(layer.left_cell, s, left_start, H) : nullptr,
                              layer.at(layer.lower, s, start, H),
                              layer.vector(layer.left_weight, s),
                              layer.vector(layer.lower_weight, s),
                              layer.vector(layer.peephole_left, s),
                              layer.zeros.data(),
                              layer.at(grad_hidden_, s, start, H),
                              recurrent,
                              layer.at(grad_cell_, s, start, H),
                              carried_ + (s * num_carried_ + carried_start) * H,
                              layer.at(grad_lower_, s, start, H),
                              grad_left_weight_ + s * layer.threads.number * H};
    for_parts(share(layer.threads, n * width, layer.min_numbers), n,
              [&](int64_t part, int64_t begin, int64_t end) { backward(step, part, begin, end); });
  }

 private:
  const Layer<T> layer_;
  const int64_t num_carried_;
  const T *grad_hidden_, *grad_cell_;
  T *carried_, *grad_lower_, *grad_left_weight_;
};

PyMethodDef methods[] = {
    {"bind_forward", bind<Forward>, METH_VARARGS,
     "Whether they are doubles, the fields of a Layer, and the width of U h."},
    {"bind_backward", bind<Backward>, METH_VARARGS,
     "Whether they are doubles, the fields of a Layer, and those of a Backward."},
    {"run", run, METH_VARARGS, "What was bound, and its step."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lstm_steps", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__lstm_steps() { return PyModule_Create(&module); }
