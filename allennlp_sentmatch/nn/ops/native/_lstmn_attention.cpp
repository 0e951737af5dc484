// The attention of a step of the LSTMN and its derivative on a CPU. The hidden layer of the
// attention exists only in registers.
//
// Step t attends to the tokens before it, for each of its n sentences. Most tables are packed:
// sentence b has row `first[t] + b` in step t. A step reads the values of all tokens before it from
// tapes, where a sentence's rows are adjacent: token t has row `start[b] + t`. If they were far
// apart, the step would wait for each of them.

#include <algorithm>

#include "_elementwise.h"
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

// A row of keys or queries x, and its factors exp(-x). They are used if `is_within`, which says that
// x is so close to zero that products of two factors are normal numbers.
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

// A step in one direction. `attention` has (T, T) numbers for each sentence: a row for each step.
template <typename T>
struct Attention {
  Threads threads;
  int64_t n, t, num_steps, H, A;
  const int64_t *first, *start, *lengths;
  T *keys, *states;            // tapes: (A), and [h; c]
  T* queries;                  // forward: without `from_summary` for step t
  const T* vector;
  T* attention;
  const T *hidden, *cell;
  T *summary_hidden, *summary_cell;
  const T *new_keys;           // (n, A): the keys of the tokens of step t - 1
  const T *from_summary;       // (.., 4H + A), of step t - 1: its end is added to queries; or null
  T* buffer;                   // (2T + 2H + A) for each thread
  // Tapes of the factors of keys and, backward, of queries; and flags for which are used
  T *key_factors, *query_factors;
  char *keys_within, *queries_within;
  // Backward: `grad_hidden` and `grad_cell` are the gradients of the summaries from step t on, and
  // the gradients of h and c before it. Those of step t - 1 become complete, like `grad_keys`.
  const T* grad_attention;                 // may be null
  T *grad_keys, *grad_queries;             // the latter are written for step t
  T* grad_vector;                          // added to; a row for each thread
  T *grad_hidden, *grad_cell;
  // The gradients of the summaries, a tape, and of the scores, like `attention`: known for all
  // steps that are done, and written for step t.
  T *grad_summaries, *grad_scores;

  int64_t num_rows() const { return n; }
  int64_t num_numbers() const { return n * t * (A + 2 * H); }
  Row<T> key(int64_t b, int64_t i) const {
    const int64_t row = start[b] + i;
    return {keys + row * A, key_factors + row * A, bool(keys_within[row])};
  }
  Row<T> query(int64_t b, int64_t i) const {
    const int64_t row = start[b] + i;
    return {queries + (first[i] + b) * A, query_factors + row * A, bool(queries_within[row])};
  }
};

template <typename T>
INLINE void attention_forward(const Attention<T>& step, int64_t part, int64_t begin, int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const T* __restrict vector = step.vector;
  T* sums = step.buffer + part * (2 * num_steps + 2 * H + A);
  T* query_factors = sums + 2 * H;
  for (int64_t b = begin; b < end; ++b) {
    const int64_t row = step.first[t] + b, before = step.first[t - 1] + b, tape = step.start[b];
    T* keys = step.keys + tape * A;
    T* states = step.states + tape * 2 * H;
    T* __restrict query = step.queries + row * A;
    T* __restrict weights = step.attention + (b * num_steps + t) * num_steps;
    T* new_factors = step.key_factors + (tape + t - 1) * A;
    std::copy_n(step.new_keys + b * A, A, keys + (t - 1) * A);
    step.keys_within[tape + t - 1] = write_factors(A, keys + (t - 1) * A, new_factors);
    std::copy_n(step.hidden + before * H, H, states + (t - 1) * 2 * H);
    std::copy_n(step.cell + before * H, H, states + (t - 1) * 2 * H + H);
    if (step.from_summary) {
      const T* __restrict added = step.from_summary + b * (4 * H + A) + 4 * H;
      INDEPENDENT
      for (int64_t j = 0; j < A; ++j) query[j] += added[j];
    }
    const Row<T> query_row = {query, query_factors, write_factors(A, query, query_factors)};
    T highest = 0;
    for (int64_t i = 0; i < t; ++i) {
      with_sigmoids(step.key(b, i), query_row, [=](auto y) INLINED {
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
    std::copy_n(sums, H, step.summary_hidden + row * H);
    std::copy_n(sums + H, H, step.summary_cell + row * H);
  }
}

// A token gets its gradients from all later steps, its readers. The readers after a block of tokens
// are added to all tokens of the block at once, so that the readers' tapes are read once a block;
// the readers within the block are added token by token.
constexpr int64_t BLOCK = 16;

// Adds to the gradients of token i of sentence b from its readers.
template <typename T>
INLINE void add_readers(const Attention<T>& step, int64_t b, int64_t i, int64_t begin, int64_t end,
                        T* buffer) {
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
INLINE void attention_backward(const Attention<T>& step, int64_t part, int64_t begin, int64_t end) {
  const int64_t t = step.t, num_steps = step.num_steps, H = step.H, A = step.A;
  const T* __restrict vector = step.vector;
  T* __restrict grad_vector = step.grad_vector + part * A;
  T* buffer = step.buffer + part * (2 * num_steps + 2 * H + A);
  for (int64_t b = begin; b < end; ++b) {
    const int64_t length = step.lengths[b], first_row = step.start[b];
    const T* states = step.states + first_row * 2 * H;
    const T* weights = step.attention + (b * num_steps + t) * num_steps;
    const T* outer = step.grad_attention;
    if (outer) outer += (b * num_steps + t) * num_steps;
    T* by_score = step.grad_scores + (b * num_steps + t) * num_steps;
    T* __restrict grad_query = step.grad_queries + (step.first[t] + b) * A;
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
    // Through the weighted sums to the weights.
    T mean = 0;
    for (int64_t i = 0; i < t; ++i) {
      const T* __restrict state = states + i * 2 * H;
      T by_weight = outer ? outer[i] : T(0);
      SUM(by_weight)
      for (int64_t j = 0; j < 2 * H; ++j) by_weight += state[j] * by_summary[j];
      by_score[i] = by_weight;
      mean += weights[i] * by_weight;
    }
    // Through the softmax to the scores, through the hidden layer to the vector and the query.
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
    // To the tokens before step t: to the last one, or to a whole block.
    if (t % BLOCK == 0) {
      for (int64_t i = t - BLOCK; i < t; ++i) add_readers(step, b, i, t, length, buffer);
    } else {
      const int64_t block_end = (t / BLOCK + 1) * BLOCK;
      add_readers(step, b, t - 1, t, std::min(length, block_end), buffer);
    }
  }
}

}  // namespace

FUNCTION(attention_forward, Attention)
FUNCTION(attention_backward, Attention)
