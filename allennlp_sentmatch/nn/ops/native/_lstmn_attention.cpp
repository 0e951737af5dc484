// The attention of a step of the LSTMN and its derivative, on a CPU: the hidden layer of the
// attention is in registers only.
//
// lstmn/cpu.py binds tables with a row for each token: sentence b has row `first[i] + b` in step i.
// Step t attends to the tokens before it, for each of its n sentences.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <vector>

#include "_arguments.h"
#include "_binding.h"
#include "_elementwise.h"
#include "_packing.h"
#include "_threads.h"

namespace {

// A step in one direction. `from_summary` has rows of `from_summary_step` numbers and is added to
// `query`, of step t; null is zero. `attention` has (T, T) numbers for a sentence: a row for each
// step.
template <typename T>
struct Step {
  int64_t n, t, num_steps, H, A, from_summary_step;
  const int64_t* first;
  const T *keys, *vector, *hidden, *cell, *from_summary;
  T *query, *attention, *summary_hidden, *summary_cell;
};

template <typename T>
INLINE void forward_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const int64_t* first = step.first;
  const T* __restrict vector = step.vector;
  for (int64_t b = begin; b < end; ++b) {
    T* __restrict query = step.query + b * A;
    T* __restrict weights = step.attention + (b * num_steps + t) * num_steps;
    T* __restrict summary_hidden = step.summary_hidden + b * H;
    T* __restrict summary_cell = step.summary_cell + b * H;
    if (step.from_summary) {
      const T* __restrict added = step.from_summary + b * step.from_summary_step;
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) query[j] += added[j];
    }
    T highest = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict key = step.keys + (first[i] + b) * A;
      T score = 0;
      SUM(score)
      for (int64_t j = 0; j < A; ++j) score += vector[j] * sigmoid(key[j] + query[j]);
      weights[i] = score;
      highest = i == 0 || score > highest ? score : highest;
    }
    T total = 0;
    for (int64_t i = 0; i < t; ++i) total += weights[i] = exponential(weights[i] - highest);
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) summary_hidden[j] = summary_cell[j] = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict hidden = step.hidden + (first[i] + b) * H;
      const T* __restrict cell = step.cell + (first[i] + b) * H;
      const T weight = weights[i] /= total;
      INDEPENDENT
      for (int64_t j = 0; j < H; ++j) {
        summary_hidden[j] += weight * hidden[j];
        summary_cell[j] += weight * cell[j];
      }
    }
  }
}

// A step backward in one direction. `grad_hidden` and `grad_cell` are, from step t on, the gradients
// of the summaries, and before it those of the tapes, which become complete for step t - 1.
// `grad_keys` and `grad_vector` are added to, `grad_query`, of step t, is written. `grad_vector` and
// `buffer` have a row for each thread. `grad_attention` may be null.
template <typename T>
struct StepBackward {
  int64_t n, t, num_steps, H, A;
  const int64_t *first, *sizes;
  const T *keys, *query, *vector, *hidden, *cell, *attention, *grad_attention;
  T *grad_hidden, *grad_cell, *grad_keys, *grad_query, *grad_vector, *buffer;
};

template <typename T>
INLINE void backward_rows(const StepBackward<T>& step, int64_t part, int64_t begin,
                           int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const int64_t *first = step.first, *sizes = step.sizes;
  const T* __restrict vector = step.vector;
  T* __restrict grad_vector = step.grad_vector + part * A;
  T* __restrict by_score = step.buffer + part * num_steps;
  for (int64_t b = begin; b < end; ++b) {
    const T* __restrict query = step.query + b * A;
    const T* __restrict attention = step.attention + b * num_steps * num_steps;
    const T* __restrict weights = attention + t * num_steps;
    const T* outer = step.grad_attention;
    if (outer) outer += (b * num_steps + t) * num_steps;
    T* __restrict grad_query = step.grad_query + b * A;
    // By the weighted sums to the weights.
    T mean = 0;
    {
      const T* __restrict by_hidden = step.grad_hidden + (first[t] + b) * H;
      const T* __restrict by_cell = step.grad_cell + (first[t] + b) * H;
      for (int64_t i = 0; i < t; ++i) {
        const T* __restrict hidden = step.hidden + (first[i] + b) * H;
        const T* __restrict cell = step.cell + (first[i] + b) * H;
        T by_weight = outer ? outer[i] : T(0);
        SUM(by_weight)
        for (int64_t j = 0; j < H; ++j) {
          by_weight += hidden[j] * by_hidden[j] + cell[j] * by_cell[j];
        }
        by_score[i] = by_weight;
        mean += weights[i] * by_weight;
      }
    }
    // By their softmax to the scores, by the hidden layer to the vector, the query and the keys.
    INDEPENDENT
    for (int64_t j = 0; j < A; ++j) grad_query[j] = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict key = step.keys + (first[i] + b) * A;
      T* __restrict grad_key = step.grad_keys + (first[i] + b) * A;
      const T grad = weights[i] * (by_score[i] - mean);
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) {
        const T y = sigmoid(key[j] + query[j]);
        const T by_argument = grad * vector[j] * y * (T(1) - y);
        grad_vector[j] += grad * y;
        grad_query[j] += by_argument;
        grad_key[j] += by_argument;
      }
    }
    // To the tapes' last token before step t, from all that have read it.
    T* __restrict grad_hidden = step.grad_hidden + (first[t - 1] + b) * H;
    T* __restrict grad_cell = step.grad_cell + (first[t - 1] + b) * H;
    for (int64_t reader = t; reader < num_steps && b < sizes[reader]; ++reader) {
      const T* __restrict by_hidden = step.grad_hidden + (first[reader] + b) * H;
      const T* __restrict by_cell = step.grad_cell + (first[reader] + b) * H;
      const T weight = attention[reader * num_steps + t - 1];
      INDEPENDENT
      for (int64_t j = 0; j < H; ++j) {
        grad_hidden[j] += weight * by_hidden[j];
        grad_cell[j] += weight * by_cell[j];
      }
    }
  }
}

FOR_EACH_PROCESSOR void forward(const Step<float>& step, int64_t begin, int64_t end) {
  forward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR void forward(const Step<double>& step, int64_t begin, int64_t end) {
  forward_rows(step, begin, end);
}
FOR_EACH_PROCESSOR
void backward(const StepBackward<float>& step, int64_t part, int64_t begin, int64_t end) {
  backward_rows(step, part, begin, end);
}
FOR_EACH_PROCESSOR
void backward(const StepBackward<double>& step, int64_t part, int64_t begin, int64_t end) {
  backward_rows(step, part, begin, end);
}

// The tables of S directions: a row of H or A numbers for each of N tokens in T steps.
template <typename T>
struct Tables : Packing {
  explicit Tables(Arguments& arguments)
      : threads(arguments.threads()),
        min_numbers(arguments.number()),
        S(arguments.number()),
        N(arguments.number()),
        H(arguments.number()),
        A(arguments.number()),
        num_steps(arguments.number()) {
    const int64_t* numbers = arguments.rows<int64_t>();
    keys = arguments.rows<T>();
    queries = arguments.rows<T>();
    vector = arguments.rows<T>();
    hidden = arguments.rows<T>();
    cell = arguments.rows<T>();
    attention = arguments.rows<T>();
    read(numbers, num_steps, N);
  }

  // Row `row` of a table with rows of `width` numbers, in direction `s`; null without a table.
  template <typename U>
  U* at(U* table, int64_t s, int64_t row, int64_t width) const {
    return table ? table + (s * N + row) * width : nullptr;
  }
  // The table of direction `s` among the attention's, (B, T, T) each.
  template <typename U>
  U* attention_at(U* table, int64_t s) const {
    return table ? table + s * sizes[0] * num_steps * num_steps : nullptr;
  }
  // The first step attends to nothing.
  bool has(int64_t s, int64_t t) const { return s >= 0 && s < S && t >= 1 && t < num_steps; }
  int64_t work(int64_t t) const { return sizes[t] * t * (A + 2 * H); }

  Threads threads;
  int64_t min_numbers, S, N, H, A, num_steps;
  T *keys, *queries, *vector, *hidden, *cell, *attention;
};

template <typename T>
class Forward : public Bound {
 public:
  explicit Forward(Arguments& arguments)
      : tables_(arguments),
        summary_hidden_(arguments.rows<T>()),
        summary_cell_(arguments.rows<T>()) {}

  // The direction, the step, and the address of rows [U h~; W h~] of 4H + A numbers, for the gates
  // of the step before and the queries of this one; null is zero.
  void run(Arguments& arguments) override {
    const Tables<T>& x = tables_;
    const int64_t s = arguments.number(), t = arguments.number();
    const T* from_summary = arguments.rows<T>();
    if (!arguments.are_right() || !check(x.has(s, t))) return;
    const int64_t n = x.sizes[t], row = x.first[t];
    const Step<T> step = {n,
                          t,
                          x.num_steps,
                          x.H,
                          x.A,
                          4 * x.H + x.A,
                          x.first.data(),
                          x.at(x.keys, s, 0, x.A),
                          x.vector + s * x.A,
                          x.at(x.hidden, s, 0, x.H),
                          x.at(x.cell, s, 0, x.H),
                          from_summary ? from_summary + 4 * x.H : nullptr,
                          x.at(x.queries, s, row, x.A),
                          x.attention_at(x.attention, s),
                          x.at(summary_hidden_, s, row, x.H),
                          x.at(summary_cell_, s, row, x.H)};
    for_parts(share(x.threads, x.work(t), x.min_numbers), n,
              [&](int64_t, int64_t begin, int64_t end) { forward(step, begin, end); });
  }

 private:
  const Tables<T> tables_;
  T *summary_hidden_, *summary_cell_;
};

template <typename T>
class Backward : public Bound {
 public:
  explicit Backward(Arguments& arguments)
      : tables_(arguments),
        grad_attention_(arguments.rows<T>()),
        grad_hidden_(arguments.rows<T>()),
        grad_cell_(arguments.rows<T>()),
        grad_keys_(arguments.rows<T>()),
        grad_queries_(arguments.rows<T>()),
        grad_vector_(arguments.rows<T>()),
        buffer_(tables_.threads.number * tables_.num_steps) {}

  // The direction and the step.
  void run(Arguments& arguments) override {
    const Tables<T>& x = tables_;
    const int64_t s = arguments.number(), t = arguments.number();
    if (!arguments.are_right() || !check(x.has(s, t))) return;
    const int64_t n = x.sizes[t], row = x.first[t];
    const StepBackward<T> step = {n,
                                  t,
                                  x.num_steps,
                                  x.H,
                                  x.A,
                                  x.first.data(),
                                  x.sizes.data(),
                                  x.at(x.keys, s, 0, x.A),
                                  x.at(x.queries, s, row, x.A),
                                  x.vector + s * x.A,
                                  x.at(x.hidden, s, 0, x.H),
                                  x.at(x.cell, s, 0, x.H),
                                  x.attention_at(x.attention, s),
                                  x.attention_at(grad_attention_, s),
                                  x.at(grad_hidden_, s, 0, x.H),
                                  x.at(grad_cell_, s, 0, x.H),
                                  x.at(grad_keys_, s, 0, x.A),
                                  x.at(grad_queries_, s, row, x.A),
                                  grad_vector_ + s * x.threads.number * x.A,
                                  buffer_.data()};
    for_parts(share(x.threads, x.work(t), x.min_numbers), n,
              [&](int64_t part, int64_t begin, int64_t end) { backward(step, part, begin, end); });
  }

 private:
  const Tables<T> tables_;
  const T* grad_attention_;
  T *grad_hidden_, *grad_cell_, *grad_keys_, *grad_queries_, *grad_vector_;
  std::vector<T> buffer_;
};

PyMethodDef methods[] = {
    {"bind_forward", bind<Forward>, METH_VARARGS,
     "Whether they are doubles, the fields of Tables, and h~ and c~."},
    {"bind_backward", bind<Backward>, METH_VARARGS,
     "Whether they are doubles, the fields of Tables, and those of a Backward."},
    {"run", run, METH_VARARGS, "What was bound, and its step."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lstmn_attention", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__lstmn_attention() { return PyModule_Create(&module); }
