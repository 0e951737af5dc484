// The attention of a step of the LSTMN and its derivative, on a CPU: the hidden layer of the
// attention is in registers only.
//
// lstmn/cpu.py binds tables with a row for each token. Step t attends to the tokens before it, for
// each of its n sentences. Most tables are packed: sentence b has row `first[t] + b` in step t.
// What a step reads of all tokens before it is in tapes, where a sentence's rows are adjacent:
// token t has row `start[b] + t`. Rows that are far apart would each wait for memory.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <algorithm>
#include <vector>

#include "_arguments.h"
#include "_binding.h"
#include "_elementwise.h"
#include "_packing.h"
#include "_threads.h"

namespace {

// out = sum of weights[i] * rows[i], with rows of `width` numbers.
template <typename T>
INLINE void weighted_sum(int64_t num_rows, int64_t width, const T* weights, const T* rows,
                         T* sums) {
  T* __restrict out = sums;
  INDEPENDENT
  for (int64_t j = 0; j < width; ++j) out[j] = 0;
  int64_t i = 0;
  for (; i + 4 <= num_rows; i += 4) {  // fewer passes over `out`
    const T* __restrict row = rows + i * width;
    const T a = weights[i], b = weights[i + 1], c = weights[i + 2], d = weights[i + 3];
    INDEPENDENT
    for (int64_t j = 0; j < width; ++j) {
      out[j] += a * row[j] + b * row[width + j] + c * row[2 * width + j] + d * row[3 * width + j];
    }
  }
  for (; i < num_rows; ++i) {
    const T* __restrict row = rows + i * width;
    const T weight = weights[i];
    INDEPENDENT
    for (int64_t j = 0; j < width; ++j) out[j] += weight * row[j];
  }
}

// A row of keys or queries x with factors exp(-x), if `is_within`: close enough to zero for
// products of two factors to be normal numbers.
template <typename T>
struct Row {
  const T *x, *factors;
  bool is_within;
};

// Calls `body` with a function that returns sigmoid(key[j] + query[j]). With factors it needs no
// exponential function: 1 / (1 + exp(-key[j]) exp(-query[j])).
template <typename T, typename Body>
INLINE void with_sigmoids(const Row<T>& key, const Row<T>& query, Body body) {
  if (key.is_within && query.is_within) {
    const T* __restrict a = key.factors;
    const T* __restrict b = query.factors;
    body([a, b](int64_t j) INLINED { return T(1) / (T(1) + a[j] * b[j]); });
  } else {
    const T* __restrict a = key.x;
    const T* __restrict b = query.x;
    body([a, b](int64_t j) INLINED { return sigmoid(a[j] + b[j]); });
  }
}

// Writes the factors of x, and returns whether it is within 40 of zero.
template <typename T>
INLINE bool write_factors(int64_t size, const T* x, T* factors) {
  const T* __restrict from = x;
  T* __restrict to = factors;
  INDEPENDENT
  for (int64_t j = 0; j < size; ++j) to[j] = exponential(-from[j]);
  T num_beyond = 0;
  SUM(num_beyond)
  for (int64_t j = 0; j < size; ++j) num_beyond += from[j] >= T(-40) && from[j] <= T(40) ? 0 : 1;
  return num_beyond == 0;
}

// A step in one direction. `new_keys` (n, A) are those of the tokens of step t - 1. `from_summary`
// has rows of `from_summary_step` numbers and is added to `query`, of step t; null is zero.
// `attention` has (T, T) numbers for a sentence: a row for each step. `buffer` has a row for each
// thread. `key_factors` and `are_within` have the factors of `keys` and whether there are any.
template <typename T>
struct Step {
  int64_t n, t, num_steps, H, A, from_summary_step;
  const int64_t* start;
  T *keys, *states;  // tapes: (A), and [h; c]
  const T *vector, *hidden, *cell, *new_keys, *from_summary;  // h and c of step t - 1
  T *query, *attention, *summary_hidden, *summary_cell, *buffer, *key_factors;
  char* are_within;
};

template <typename T>
INLINE void forward_rows(const Step<T>& step, int64_t part, int64_t begin, int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const T* __restrict vector = step.vector;
  T* sums = step.buffer + part * (2 * H + A);
  T* query_factors = sums + 2 * H;
  for (int64_t b = begin; b < end; ++b) {
    T* keys = step.keys + step.start[b] * A;
    T* states = step.states + step.start[b] * 2 * H;
    T* __restrict query = step.query + b * A;
    T* __restrict weights = step.attention + (b * num_steps + t) * num_steps;
    T* key_factors = step.key_factors + step.start[b] * A;
    char* are_within = step.are_within + step.start[b];
    std::copy_n(step.new_keys + b * A, A, keys + (t - 1) * A);
    are_within[t - 1] = write_factors(A, keys + (t - 1) * A, key_factors + (t - 1) * A);
    std::copy_n(step.hidden + b * H, H, states + (t - 1) * 2 * H);
    std::copy_n(step.cell + b * H, H, states + (t - 1) * 2 * H + H);
    if (step.from_summary) {
      const T* __restrict added = step.from_summary + b * step.from_summary_step;
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) query[j] += added[j];
    }
    const Row<T> query_row = {query, query_factors, write_factors(A, query, query_factors)};
    T highest = 0;
    for (int64_t i = 0; i < t; ++i) {
      const Row<T> key = {keys + i * A, key_factors + i * A, bool(are_within[i])};
      with_sigmoids(key, query_row, [=](auto y) INLINED {
        T score = 0;
        SUM(score)
        for (int64_t j = 0; j < A; ++j) score += vector[j] * y(j);
        weights[i] = score;
      });
      highest = i == 0 || weights[i] > highest ? weights[i] : highest;
    }
    T total = 0;
    for (int64_t i = 0; i < t; ++i) total += weights[i] = exponential(weights[i] - highest);
    for (int64_t i = 0; i < t; ++i) weights[i] /= total;
    weighted_sum(t, 2 * H, weights, states, sums);
    std::copy_n(sums, H, step.summary_hidden + b * H);
    std::copy_n(sums + H, H, step.summary_cell + b * H);
  }
}

// A step backward in one direction. `grad_hidden` and `grad_cell` are, from step t on, the
// gradients of the summaries, and before it those of h and c, which become complete for step t - 1,
// as do `grad_keys`. `grad_query`, of step t, is written. `grad_vector` is added to. That and
// `buffer` have a row for each thread. `grad_attention` may be null.
//
// A token gets its gradients from all later steps, its readers. These are added for a block of
// tokens once all readers after the block are done, so that the tapes of readers are read once a
// block; then for each token from those in the block.
template <typename T>
struct StepBackward {
  int64_t n, t, num_steps, H, A;
  const int64_t *first, *start, *lengths;
  const T *keys, *states, *queries, *vector, *attention, *grad_attention;
  T *grad_hidden, *grad_cell, *grad_keys, *grad_query, *grad_vector, *buffer;
  // Tapes of the factors of keys and, of steps that are done and of step t, of queries; and whether
  // there are any.
  T *key_factors, *query_factors;
  char *keys_within, *queries_within;
  // Of steps that are done, and are written for step t: the tape of the summaries' gradients, and
  // like `attention`, the scores' gradients.
  T *grad_summaries, *grad_scores;

  Row<T> key(int64_t b, int64_t i) const {
    const int64_t row = start[b] + i;
    return {keys + row * A, key_factors + row * A, bool(keys_within[row])};
  }
  Row<T> query(int64_t b, int64_t i) const {
    const int64_t row = start[b] + i;
    return {queries + (first[i] + b) * A, query_factors + row * A, bool(queries_within[row])};
  }
};

constexpr int64_t BLOCK = 16;

// Numbers in a thread's row of the buffer.
inline int64_t buffer_size(int64_t num_steps, int64_t H, int64_t A) {
  return 2 * num_steps + 2 * H + A;
}

// Add to the gradients of token i of sentence b, from its readers.
template <typename T>
INLINE void add_readers(const StepBackward<T>& step, int64_t b, int64_t i, int64_t begin,
                        int64_t end, T* buffer) {
  const int64_t num_steps = step.num_steps, H = step.H, A = step.A, number = end - begin;
  const int64_t row = step.first[i] + b;
  T* weights = buffer;
  T* by_scores = weights + num_steps;
  T* sums = by_scores + num_steps;
  T* __restrict by_key = sums + 2 * H;
  const int64_t column = (b * num_steps + begin) * num_steps + i;
  for (int64_t k = 0; k < number; ++k) {
    weights[k] = step.attention[column + k * num_steps];
    by_scores[k] = step.grad_scores[column + k * num_steps];
  }
  weighted_sum(number, 2 * H, weights, step.grad_summaries + (step.start[b] + begin) * 2 * H, sums);
  T* __restrict grad_hidden = step.grad_hidden + row * H;
  T* __restrict grad_cell = step.grad_cell + row * H;
  INDEPENDENT
  for (int64_t j = 0; j < H; ++j) {
    grad_hidden[j] += sums[j];
    grad_cell[j] += sums[H + j];
  }
  INDEPENDENT
  for (int64_t j = 0; j < A; ++j) by_key[j] = 0;
  for (int64_t k = 0; k < number; ++k) {
    const T grad = by_scores[k];
    with_sigmoids(step.key(b, i), step.query(b, begin + k), [=](auto y) INLINED {
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) by_key[j] += grad * y(j) * (T(1) - y(j));
    });
  }
  const T* __restrict vector = step.vector;
  T* __restrict grad_key = step.grad_keys + row * A;
  INDEPENDENT
  for (int64_t j = 0; j < A; ++j) grad_key[j] += vector[j] * by_key[j];
}

template <typename T>
INLINE void backward_rows(const StepBackward<T>& step, int64_t part, int64_t begin,
                           int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const T* __restrict vector = step.vector;
  T* __restrict grad_vector = step.grad_vector + part * A;
  T* buffer = step.buffer + part * buffer_size(num_steps, H, A);
  for (int64_t b = begin; b < end; ++b) {
    const int64_t length = step.lengths[b], first_row = step.start[b];
    const T* states = step.states + first_row * 2 * H;
    const T* weights = step.attention + (b * num_steps + t) * num_steps;
    const T* outer = step.grad_attention;
    if (outer) outer += (b * num_steps + t) * num_steps;
    T* by_score = step.grad_scores + (b * num_steps + t) * num_steps;
    T* __restrict grad_query = step.grad_query + b * A;
    T* __restrict by_summary = step.grad_summaries + (first_row + t) * 2 * H;
    std::copy_n(step.grad_hidden + (step.first[t] + b) * H, H, by_summary);
    std::copy_n(step.grad_cell + (step.first[t] + b) * H, H, by_summary + H);
    if (t + 1 == length) {  // the sentence's first step backward
      for (int64_t i = 0; i < t; ++i) {
        T* factors = step.key_factors + (first_row + i) * A;
        step.keys_within[first_row + i] = write_factors(A, step.key(b, i).x, factors);
      }
    }
    T* query_factors = step.query_factors + (first_row + t) * A;
    step.queries_within[first_row + t] = write_factors(A, step.query(b, t).x, query_factors);
    // By the weighted sums to the weights.
    T mean = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict state = states + i * 2 * H;
      T by_weight = outer ? outer[i] : T(0);
      SUM(by_weight)
      for (int64_t j = 0; j < 2 * H; ++j) by_weight += state[j] * by_summary[j];
      by_score[i] = by_weight;
      mean += weights[i] * by_weight;
    }
    // By their softmax to the scores, by the hidden layer to the vector and the query.
    INDEPENDENT
    for (int64_t j = 0; j < A; ++j) grad_query[j] = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T grad = by_score[i] = weights[i] * (by_score[i] - mean);
      with_sigmoids(step.key(b, i), step.query(b, t), [=](auto y) INLINED {
        INDEPENDENT
        for (int64_t j = 0; j < A; ++j) {
          grad_vector[j] += grad * y(j);
          grad_query[j] += grad * y(j) * (T(1) - y(j));
        }
      });
    }
    INDEPENDENT
    for (int64_t j = 0; j < A; ++j) grad_query[j] *= vector[j];
    // To the tokens before step t that are now complete, or a block of them.
    if (t % BLOCK == 0) {
      for (int64_t i = t - BLOCK; i < t; ++i) add_readers(step, b, i, t, length, buffer);
    } else {
      const int64_t block_end = (t / BLOCK + 1) * BLOCK;
      add_readers(step, b, t - 1, t, std::min(length, block_end), buffer);
    }
  }
}

FOR_EACH_PROCESSOR
void forward(const Step<float>& step, int64_t part, int64_t begin, int64_t end) {
  forward_rows(step, part, begin, end);
}
FOR_EACH_PROCESSOR
void forward(const Step<double>& step, int64_t part, int64_t begin, int64_t end) {
  forward_rows(step, part, begin, end);
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
    states = arguments.rows<T>();
    queries = arguments.rows<T>();
    vector = arguments.rows<T>();
    attention = arguments.rows<T>();
    read(numbers, num_steps, N);
    if (PyErr_Occurred()) return;
    int64_t next = 0;
    for (int64_t b = 0; b < sizes[0]; ++b) {
      int64_t length = 1;
      while (length < num_steps && sizes[length] > b) ++length;
      start.push_back(next);
      lengths.push_back(length);
      next += length;
    }
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
  std::vector<int64_t> start, lengths;  // of the sentences, in tapes
  T *keys, *states, *queries, *vector, *attention;
};

template <typename T>
class Forward : public Bound {
 public:
  explicit Forward(Arguments& arguments)
      : tables_(arguments),
        hidden_(arguments.rows<T>()),
        cell_(arguments.rows<T>()),
        summary_hidden_(arguments.rows<T>()),
        summary_cell_(arguments.rows<T>()),
        buffer_(tables_.threads.number * (2 * tables_.H + tables_.A)),
        key_factors_(tables_.N * tables_.A),
        are_within_(tables_.N) {}

  // The direction, the step, the address of the keys (n, A) of the tokens of the step before, and
  // that of rows [U h~; W h~] of 4H + A numbers, for the gates of the step before and the queries
  // of this one; null is zero.
  void run(Arguments& arguments) override {
    const Tables<T>& x = tables_;
    const int64_t s = arguments.number(), t = arguments.number();
    const T *new_keys = arguments.rows<T>(), *from_summary = arguments.rows<T>();
    if (!arguments.are_right() || !check(x.has(s, t) && new_keys)) return;
    const int64_t n = x.sizes[t], row = x.first[t], before = x.first[t - 1];
    const Step<T> step = {n,
                          t,
                          x.num_steps,
                          x.H,
                          x.A,
                          4 * x.H + x.A,
                          x.start.data(),
                          x.at(x.keys, s, 0, x.A),
                          x.at(x.states, s, 0, 2 * x.H),
                          x.vector + s * x.A,
                          x.at(hidden_, s, before, x.H),
                          x.at(cell_, s, before, x.H),
                          new_keys,
                          from_summary ? from_summary + 4 * x.H : nullptr,
                          x.at(x.queries, s, row, x.A),
                          x.attention_at(x.attention, s),
                          x.at(summary_hidden_, s, row, x.H),
                          x.at(summary_cell_, s, row, x.H),
                          buffer_.data(),
                          key_factors_.data(),
                          are_within_.data()};
    for_parts(share(x.threads, x.work(t), x.min_numbers), n,
              [&](int64_t part, int64_t begin, int64_t end) { forward(step, part, begin, end); });
  }

 private:
  const Tables<T> tables_;
  T *hidden_, *cell_, *summary_hidden_, *summary_cell_;
  std::vector<T> buffer_;
  // Of one direction at a time
  std::vector<T> key_factors_;
  std::vector<char> are_within_;
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
        key_factors_(arguments.rows<T>()),
        query_factors_(arguments.rows<T>()),
        grad_summary_tape_(arguments.rows<T>()),
        grad_scores_(arguments.rows<T>()),
        keys_within_(tables_.N),
        queries_within_(tables_.N),
        buffer_(tables_.threads.number * buffer_size(tables_.num_steps, tables_.H, tables_.A)) {}

  // The direction and the step. The steps of a direction follow each other, backward.
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
                                  x.start.data(),
                                  x.lengths.data(),
                                  x.at(x.keys, s, 0, x.A),
                                  x.at(x.states, s, 0, 2 * x.H),
                                  x.at(x.queries, s, 0, x.A),
                                  x.vector + s * x.A,
                                  x.attention_at(x.attention, s),
                                  x.attention_at(grad_attention_, s),
                                  x.at(grad_hidden_, s, 0, x.H),
                                  x.at(grad_cell_, s, 0, x.H),
                                  x.at(grad_keys_, s, 0, x.A),
                                  x.at(grad_queries_, s, row, x.A),
                                  grad_vector_ + s * x.threads.number * x.A,
                                  buffer_.data(),
                                  key_factors_,
                                  query_factors_,
                                  keys_within_.data(),
                                  queries_within_.data(),
                                  grad_summary_tape_,
                                  grad_scores_};
    for_parts(share(x.threads, x.work(t), x.min_numbers), n,
              [&](int64_t part, int64_t begin, int64_t end) { backward(step, part, begin, end); });
  }

 private:
  const Tables<T> tables_;
  const T* grad_attention_;
  T *grad_hidden_, *grad_cell_, *grad_keys_, *grad_queries_, *grad_vector_;
  // Of one direction at a time
  T *key_factors_, *query_factors_, *grad_summary_tape_, *grad_scores_;
  std::vector<char> keys_within_, queries_within_;
  std::vector<T> buffer_;
};

PyMethodDef methods[] = {
    {"bind_forward", bind<Forward>, METH_VARARGS,
     "Whether they are doubles, the fields of Tables, and those of a Forward."},
    {"bind_backward", bind<Backward>, METH_VARARGS,
     "Whether they are doubles, the fields of Tables, and those of a Backward."},
    {"run", run, METH_VARARGS, "What was bound, and its step."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lstmn_attention", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__lstmn_attention() { return PyModule_Create(&module); }
