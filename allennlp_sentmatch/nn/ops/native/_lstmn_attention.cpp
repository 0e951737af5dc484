// What a step of the LSTMN reads from the tapes and its derivative, on a CPU: the hidden layer of
// the attention is in registers only.
//
// lstmn_compiled.py gives addresses of contiguous rows in one direction, most of them of a token
// each: sentence b has row `first[i] + b` in step i. Step t reads of the tokens before it for each
// of its n sentences.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "_arguments.h"
#include "_elementwise.h"
#include "_threads.h"

namespace {

// Where `from_summary` is null, it is zero; else it has rows of `from_summary_step` numbers, and is
// added to `query`, of step t. `attention` has (T, T) numbers for a sentence: a row for each step.
template <typename T>
struct Reading {
  int64_t n, t, num_steps, H, A, from_summary_step;
  const int64_t* first;
  const T *keys, *vector, *hidden, *cell, *from_summary;
  T *query, *attention, *summary_hidden, *summary_cell;
};

template <typename T>
INLINE void read_rows(const Reading<T>& reading, int64_t begin, int64_t end) {
  const int64_t t = reading.t, num_steps = reading.num_steps, H = reading.H, A = reading.A;
  const int64_t* first = reading.first;
  const T* __restrict vector = reading.vector;
  for (int64_t b = begin; b < end; ++b) {
    T* __restrict query = reading.query + b * A;
    T* __restrict weights = reading.attention + (b * num_steps + t) * num_steps;
    T* __restrict summary_hidden = reading.summary_hidden + b * H;
    T* __restrict summary_cell = reading.summary_cell + b * H;
    if (reading.from_summary) {
      const T* __restrict added = reading.from_summary + b * reading.from_summary_step;
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) query[j] += added[j];
    }
    T highest = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict key = reading.keys + (first[i] + b) * A;
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
      const T* __restrict hidden = reading.hidden + (first[i] + b) * H;
      const T* __restrict cell = reading.cell + (first[i] + b) * H;
      const T weight = weights[i] /= total;
      INDEPENDENT
      for (int64_t j = 0; j < H; ++j) {
        summary_hidden[j] += weight * hidden[j];
        summary_cell[j] += weight * cell[j];
      }
    }
  }
}

// `grad_hidden` and `grad_cell` are, from step t on, the gradients of the summaries, and before it
// those of the tapes, which become complete for step t - 1. `grad_keys` and `by_vector` are added
// to, `by_query`, of step t, is written. `by_vector` and `room` have a row for each thread.
// `grad_attention` may be null.
template <typename T>
struct ReadingBack {
  int64_t n, t, num_steps, H, A;
  const int64_t *first, *sizes;
  const T *keys, *query, *vector, *hidden, *cell, *attention, *grad_attention;
  T *grad_hidden, *grad_cell, *grad_keys, *by_query, *by_vector, *room;
};

template <typename T>
INLINE void read_rows_back(const ReadingBack<T>& reading, int64_t part, int64_t begin,
                           int64_t end) {
  const int64_t t = reading.t, num_steps = reading.num_steps, H = reading.H, A = reading.A;
  const int64_t *first = reading.first, *sizes = reading.sizes;
  const T* __restrict vector = reading.vector;
  T* __restrict by_vector = reading.by_vector + part * A;
  T* __restrict by_score = reading.room + part * num_steps;
  for (int64_t b = begin; b < end; ++b) {
    const T* __restrict query = reading.query + b * A;
    const T* __restrict attention = reading.attention + b * num_steps * num_steps;
    const T* __restrict weights = attention + t * num_steps;
    const T* outer = reading.grad_attention;
    if (outer) outer += (b * num_steps + t) * num_steps;
    T* __restrict by_query = reading.by_query + b * A;
    // By the weighted sums to the weights.
    T mean = 0;
    {
      const T* __restrict by_hidden = reading.grad_hidden + (first[t] + b) * H;
      const T* __restrict by_cell = reading.grad_cell + (first[t] + b) * H;
      for (int64_t i = 0; i < t; ++i) {
        const T* __restrict hidden = reading.hidden + (first[i] + b) * H;
        const T* __restrict cell = reading.cell + (first[i] + b) * H;
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
    for (int64_t j = 0; j < A; ++j) by_query[j] = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict key = reading.keys + (first[i] + b) * A;
      T* __restrict grad_key = reading.grad_keys + (first[i] + b) * A;
      const T grad = weights[i] * (by_score[i] - mean);
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) {
        const T y = sigmoid(key[j] + query[j]);
        const T by_argument = grad * vector[j] * y * (T(1) - y);
        by_vector[j] += grad * y;
        by_query[j] += by_argument;
        grad_key[j] += by_argument;
      }
    }
    // To the tapes' last token before step t, from all that have read it.
    T* __restrict grad_hidden = reading.grad_hidden + (first[t - 1] + b) * H;
    T* __restrict grad_cell = reading.grad_cell + (first[t - 1] + b) * H;
    for (int64_t reader = t; reader < num_steps && b < sizes[reader]; ++reader) {
      const T* __restrict by_hidden = reading.grad_hidden + (first[reader] + b) * H;
      const T* __restrict by_cell = reading.grad_cell + (first[reader] + b) * H;
      const T weight = attention[reader * num_steps + t - 1];
      INDEPENDENT
      for (int64_t j = 0; j < H; ++j) {
        grad_hidden[j] += weight * by_hidden[j];
        grad_cell[j] += weight * by_cell[j];
      }
    }
  }
}

FOR_EACH_PROCESSOR void read(const Reading<float>& reading, int64_t begin, int64_t end) {
  read_rows(reading, begin, end);
}
FOR_EACH_PROCESSOR void read(const Reading<double>& reading, int64_t begin, int64_t end) {
  read_rows(reading, begin, end);
}
FOR_EACH_PROCESSOR
void read_back(const ReadingBack<float>& reading, int64_t part, int64_t begin, int64_t end) {
  read_rows_back(reading, part, begin, end);
}
FOR_EACH_PROCESSOR
void read_back(const ReadingBack<double>& reading, int64_t part, int64_t begin, int64_t end) {
  read_rows_back(reading, part, begin, end);
}

template <typename T>
PyObject* read_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const Reading<T> reading = {
      arguments.number(),        arguments.number(),  arguments.number(),  arguments.number(),
      arguments.number(),        arguments.number(),  arguments.rows<int64_t>(),
      arguments.rows<T>(),       arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>(),       arguments.rows<T>(), arguments.rows<T>(), arguments.rows<T>(),
      arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, reading.n,
            [&](int64_t, int64_t begin, int64_t end) { read(reading, begin, end); });
  Py_RETURN_NONE;
}

template <typename T>
PyObject* read_back_as(Arguments arguments) {
  const Threads threads = arguments.threads();
  const ReadingBack<T> reading = {
      arguments.number(),        arguments.number(),        arguments.number(),
      arguments.number(),        arguments.number(),        arguments.rows<int64_t>(),
      arguments.rows<int64_t>(), arguments.rows<T>(),       arguments.rows<T>(),
      arguments.rows<T>(),       arguments.rows<T>(),       arguments.rows<T>(),
      arguments.rows<T>(),       arguments.rows<T>(),       arguments.rows<T>(),
      arguments.rows<T>(),       arguments.rows<T>(),       arguments.rows<T>(),
      arguments.rows<T>(),       arguments.rows<T>()};
  if (!arguments.are_right()) return nullptr;
  for_parts(threads, reading.n, [&](int64_t part, int64_t begin, int64_t end) {
    read_back(reading, part, begin, end);
  });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"read", call<read_as<double>, read_as<float>>, METH_VARARGS,
     "Whether they are doubles, the threads, and the fields of a Reading."},
    {"read_back", call<read_back_as<double>, read_back_as<float>>, METH_VARARGS,
     "The same, of a ReadingBack."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lstmn_attention", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__lstmn_attention() { return PyModule_Create(&module); }
