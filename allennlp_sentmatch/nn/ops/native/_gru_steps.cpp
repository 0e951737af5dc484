// A step of a GRU's layer and its derivative on a CPU, each in one pass over memory.
//
// gru/cpu.py binds the tables of a layer. The gates are side by side in a row: [r; z; n].

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

// A row of `left` is the state before the step; where `left` is null, it is `zeros`.
template <typename T>
struct Step {
  int64_t H;
  T *gates, *candidate, *hidden;
  const T *left, *zeros, *recurrent;
};

template <typename T>
INLINE void forward_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const T* __restrict u = step.recurrent + row * 3 * H;
    const T* __restrict left = step.left ? step.left + row * H : step.zeros;
    T* __restrict a = step.gates + row * 3 * H;
    T* __restrict candidate = step.candidate + row * H;
    T* __restrict h = step.hidden + row * H;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T r = sigmoid(a[j] + u[j]);
      const T z = sigmoid(a[H + j] + u[H + j]);
      const T n = hyperbolic_tangent(a[2 * H + j] + r * u[2 * H + j]);
      a[j] = r;
      a[H + j] = z;
      a[2 * H + j] = n;
      candidate[j] = u[2 * H + j];
      h[j] = n + z * (left[j] - n);
    }
  }
}

// `carried` is the gradient of h from the step after, and becomes that for the step before without
// what passes through the products.
template <typename T>
struct StepBackward {
  int64_t H;
  T* gates;
  const T *candidate, *left, *zeros, *grad_hidden;
  T *by_state, *carried;
};

template <typename T>
INLINE void backward_rows(const StepBackward<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const T* __restrict candidate = step.candidate + row * H;
    const T* __restrict left = step.left ? step.left + row * H : step.zeros;
    const T* __restrict outer = step.grad_hidden + row * H;
    T* __restrict a = step.gates + row * 3 * H;
    T* __restrict by_state = step.by_state + row * 3 * H;
    T* __restrict carried = step.carried + row * H;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T r = a[j], z = a[H + j], n = a[2 * H + j];
      const T dh = outer[j] + carried[j];
      const T dn = dh * (T(1) - z) * (T(1) - n * n);
      const T dr = dn * candidate[j] * r * (T(1) - r);
      const T dz = dh * (left[j] - n) * z * (T(1) - z);
      a[j] = by_state[j] = dr;
      a[H + j] = by_state[H + j] = dz;
      a[2 * H + j] = dn;
      by_state[2 * H + j] = dn * r;
      carried[j] = without_vanished(dh * z);
    }
  }
}

FOR_EACH_PROCESSOR void forward(const Step<float>& step, int64_t begin, int64_t end) {
  forward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR void forward(const Step<double>& step, int64_t begin, int64_t end) {
  forward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR void backward(const StepBackward<float>& step, int64_t begin, int64_t end) {
  backward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR void backward(const StepBackward<double>& step, int64_t begin, int64_t end) {
  backward_rows(step, begin, end);
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
        candidate(arguments.rows<T>()),
        hidden(arguments.rows<T>()),
        zeros(std::max<int64_t>(H, 0)) {}

  // Row `row` of a table in direction `s`, of `width` numbers a row.
  template <typename U>
  U* at(U* table, int64_t s, int64_t row, int64_t width) const {
    return table + (s * N + row) * width;
  }
  // Whether a direction has a step's rows, and those on their left unless `left_start` is -1.
  bool has(int64_t s, int64_t start, int64_t left_start, int64_t n) const {
    return has_rows(s, 1, S) && has_rows(start, n, N) &&
           (left_start == -1 || has_rows(left_start, n, N));
  }
  const T* left(int64_t s, int64_t left_start) const {
    return left_start < 0 ? nullptr : at(hidden, s, left_start, H);
  }

  Threads threads;
  int64_t min_numbers, S, N, H;
  T *gates, *candidate, *hidden;
  std::vector<T> zeros;
};

template <typename T>
class Forward : public Bound {
 public:
  explicit Forward(Arguments& arguments) : layer_(arguments) {}

  // The direction, the first row, that of the states on the left or -1, the number of rows, and
  // U h + c for them.
  void run(Arguments& arguments) override {
    const Layer<T>& layer = layer_;
    const int64_t s = arguments.number(), start = arguments.number(),
                  left_start = arguments.number(), n = arguments.number(), H = layer.H;
    const T* recurrent = arguments.rows<T>();
    if (!arguments.are_right() || !check(layer.has(s, start, left_start, n))) return;
    const Step<T> step = {H,
                          layer.at(layer.gates, s, start, 3 * H),
                          layer.at(layer.candidate, s, start, H),
                          layer.at(layer.hidden, s, start, H),
                          layer.left(s, left_start),
                          layer.zeros.data(),
                          recurrent};
    for_parts(share(layer.threads, n * 3 * H, layer.min_numbers), n,
              [&](int64_t, int64_t begin, int64_t end) { forward(step, begin, end); });
  }

 private:
  const Layer<T> layer_;
};

template <typename T>
class Backward : public Bound {
 public:
  explicit Backward(Arguments& arguments)
      : layer_(arguments),
        num_sentences_(arguments.number()),
        by_state_(arguments.rows<T>()),
        grad_hidden_(arguments.rows<T>()),
        carried_(arguments.rows<T>()) {}

  // The direction, the first row, that of the states on the left or -1, and the number of rows.
  void run(Arguments& arguments) override {
    const Layer<T>& layer = layer_;
    const int64_t s = arguments.number(), start = arguments.number(),
                  left_start = arguments.number(), n = arguments.number(), H = layer.H;
    if (!arguments.are_right() ||
        !check(layer.has(s, start, left_start, n) && has_rows(0, n, num_sentences_))) {
      return;
    }
    const StepBackward<T> step = {H,
                                  layer.at(layer.gates, s, start, 3 * H),
                                  layer.at(layer.candidate, s, start, H),
                                  layer.left(s, left_start),
                                  layer.zeros.data(),
                                  layer.at(grad_hidden_, s, start, H),
                                  layer.at(by_state_, s, start, 3 * H),
                                  carried_ + s * num_sentences_ * H};
    for_parts(share(layer.threads, n * 3 * H, layer.min_numbers), n,
              [&](int64_t, int64_t begin, int64_t end) { backward(step, begin, end); });
  }

 private:
  const Layer<T> layer_;
  const int64_t num_sentences_;
  T* by_state_;
  const T* grad_hidden_;
  T* carried_;
};

PyMethodDef methods[] = {
    {"bind_forward", bind<Forward>, METH_VARARGS,
     "Whether they are doubles, and the fields of a Layer."},
    {"bind_backward", bind<Backward>, METH_VARARGS,
     "Whether they are doubles, the fields of a Layer, and those of a Backward."},
    {"run", run, METH_VARARGS, "What was bound, and its step."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_gru_steps", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__gru_steps() { return PyModule_Create(&module); }
