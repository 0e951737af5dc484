// A step of an LSTM, a CAS-LSTM or a GRU and its derivative on a CPU, each in one pass over memory.
// It serves a layer over packed sentences, suffixes, and words of a table.
//
// The gates of a row are side by side: [i; f; g; o; v] or [r; z; n]. A layer's step has a row for
// each sentence. A suffix's step has a block of rows for each suffix, with a row for each sentence.
// The rows of a block are contiguous in each table, and so are the blocks, except in x and the
// states.

#include "_elementwise.h"
#include "_threads.h"

namespace {

template <typename T>
struct Step {
  Threads threads;
  int64_t n, block, H;          // rows in all and in a block, and numbers in a state
  int64_t x_step, state_step;   // distances between the blocks of x, and of states and `carried`
  int64_t recurrent_width;      // the width of the rows of `recurrent`
  int64_t num_after;            // backward: rows with a step after them
  const T* zeros;               // a row for tables that are null
  const T *x;                   // W x + b; with `words`, a row for each different word
  const int64_t* words;         // the rows' words; null if x has a row for each row
  const T *recurrent;           // U h (for a GRU, U h + c), or null; backward: dh from above
  const T *left;                // c before the step (for a GRU, h), or null
  const T *lower;               // the weighted cell below; null without one
  const T *left_weight, *peephole;  // vectors; the latter is null without peepholes
  T *hidden, *cell;             // the states after the step
  T *total;                     // with `words`: h is added to it
  T *gates;                     // null if there is no backward pass
  T *kept_left, *kept;          // suffixes: c before the step, and tanh(c); a GRU keeps
                                // U_n h + c_n; null if there is no backward pass
  // The backward pass only. `grad_hidden` and `grad_cell` come from outside, or are null.
  T *grad_hidden;
  const T *grad_cell;
  T *carried;                   // the gradient of c (for a GRU, of h) from the step after; becomes
                                // the gradient for the step before, without the part through U
  T *grad_gates;                // written: the gradient of W x + b; may be `gates`
  T *grad_recurrent;            // written: the gradient of U h + c of a GRU; null if not needed
  T *grad_lower;                // written
  T *grad_left_weight;          // added to; a row for each thread

  int64_t num_rows() const { return n; }
  int64_t num_numbers() const { return n * 4 * H; }
  int64_t x_row(int64_t row, int64_t width) const {
    return row / block * x_step + row % block * width;
  }
  int64_t state_row(int64_t row) const { return row / block * state_step + row % block * H; }
  const T* or_zeros(const T* table, int64_t offset) const { return table ? table + offset : zeros; }
};

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE, bool HAS_GATES, bool HAS_KEPT,
          bool HAS_WORDS = false>
INLINE void lstm_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H, width = (HAS_LOWER ? 5 : 4) * H;
  const T* __restrict left_weight = step.left_weight;
  const T* __restrict peephole = step.peephole;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t state = step.state_row(row);
    // It may be the row of gates.
    const T* x = step.x + (HAS_WORDS ? step.words[row] * width : step.x_row(row, width));
    const T* left = step.or_zeros(step.left, state);  // may be the row of the cell
    const T* __restrict u = step.or_zeros(step.recurrent, row * step.recurrent_width);
    const T* __restrict lower = HAS_LOWER ? step.lower + row * H : nullptr;
    T* a = HAS_GATES ? step.gates + row * width : nullptr;
    T* c = step.cell + state;
    T* __restrict h = step.hidden + state;
    T* __restrict all = HAS_WORDS ? step.total + state : nullptr;
    T* __restrict kept_left = HAS_KEPT ? step.kept_left + row * H : nullptr;
    T* __restrict kept = HAS_KEPT ? step.kept + row * H : nullptr;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = sigmoid(x[j] + u[j]);
      const T f = sigmoid(x[H + j] + u[H + j]);
      const T g = hyperbolic_tangent(x[2 * H + j] + u[2 * H + j]);
      const T o = sigmoid(x[3 * H + j] + u[3 * H + j]);
      const T old = left[j];
      T total = i * g + (HAS_GATES && !HAS_KEPT ? left_weight[j] * f * old : f * old);
      if (HAS_LOWER) {
        const T context = HAS_PEEPHOLE ? peephole[j] * old : u[4 * H + j];
        const T v = sigmoid(x[4 * H + j] + context);
        total += v * lower[j];
        a[4 * H + j] = v;
      }
      const T tanh_c = hyperbolic_tangent(total);
      if (HAS_GATES) {
        a[j] = i;
        a[H + j] = f;
        a[2 * H + j] = g;
        a[3 * H + j] = o;
      }
      if (HAS_KEPT) {
        kept_left[j] = old;
        kept[j] = tanh_c;
      }
      c[j] = total;
      h[j] = o * tanh_c;
      if (HAS_WORDS) all[j] += o * tanh_c;
    }
  }
}

template <typename T>
INLINE void lstm_forward(const Step<T>& step, int64_t, int64_t begin, int64_t end) {
  if (step.peephole) {
    lstm_rows<T, true, true, true, false>(step, begin, end);
  } else if (step.lower) {
    lstm_rows<T, true, false, true, false>(step, begin, end);
  } else if (step.kept) {
    lstm_rows<T, false, false, true, true>(step, begin, end);
  } else if (step.gates) {
    lstm_rows<T, false, false, true, false>(step, begin, end);
  } else if (step.words) {
    lstm_rows<T, false, false, false, false, true>(step, begin, end);
  } else {
    lstm_rows<T, false, false, false, false>(step, begin, end);
  }
}

template <typename T, bool HAS_LOWER, bool HAS_PEEPHOLE, bool HAS_KEPT>
INLINE void lstm_backward_rows(const Step<T>& step, int64_t part, int64_t begin, int64_t end) {
  const int64_t H = step.H, width = (HAS_LOWER ? 5 : 4) * H;
  const T* __restrict left_weight = step.left_weight;
  const T* __restrict peephole = step.peephole;
  T* __restrict by_left_weight = HAS_KEPT ? nullptr : step.grad_left_weight + part * H;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t state = step.state_row(row);
    const T* __restrict c = (HAS_KEPT ? step.kept : step.cell) + row * H;
    const T* __restrict left = step.or_zeros(HAS_KEPT ? step.kept_left : step.left, row * H);
    const T* __restrict lower = HAS_LOWER ? step.lower + row * H : nullptr;
    T* __restrict outer = step.grad_hidden + state;
    const T* __restrict inner = row < step.num_after ? step.recurrent + row * H : step.zeros;
    const T* __restrict outer_c = step.or_zeros(step.grad_cell, row * H);
    const T* a = step.gates + row * width;
    T* out = step.grad_gates + row * width;
    T* __restrict carried = step.carried + state;
    T* __restrict grad_lower = HAS_LOWER ? step.grad_lower + row * H : nullptr;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T i = a[j], f = a[H + j], g = a[2 * H + j], o = a[3 * H + j];
      const T tanh_c = HAS_KEPT ? c[j] : hyperbolic_tangent(c[j]);
      const T dh = without_vanished(outer[j] + inner[j]);
      const T dc =
          without_vanished(outer_c[j] + carried[j] + dh * o * (T(1) - tanh_c * tanh_c));
      const T by_forget = dc * left[j], weight = HAS_KEPT ? T(1) : left_weight[j];
      if (!HAS_KEPT) by_left_weight[j] += by_forget * f;
      T to_left = dc * weight * f;
      if (HAS_LOWER) {
        const T v = a[4 * H + j];
        const T by_lower = dc * v;
        const T dv = by_lower * lower[j] * (T(1) - v);
        grad_lower[j] = by_lower;
        out[4 * H + j] = dv;
        if (HAS_PEEPHOLE) to_left += dv * peephole[j];
      }
      out[j] = dc * g * i * (T(1) - i);
      out[H + j] = by_forget * weight * f * (T(1) - f);
      out[2 * H + j] = dc * i * (T(1) - g * g);
      out[3 * H + j] = dh * tanh_c * o * (T(1) - o);
      carried[j] = to_left;
      if (HAS_KEPT) outer[j] = T(0);  // the states are overwritten, so their gradients are, too
    }
  }
}

template <typename T>
INLINE void lstm_backward(const Step<T>& step, int64_t part, int64_t begin, int64_t end) {
  if (step.peephole) {
    lstm_backward_rows<T, true, true, false>(step, part, begin, end);
  } else if (step.lower) {
    lstm_backward_rows<T, true, false, false>(step, part, begin, end);
  } else if (step.kept) {
    lstm_backward_rows<T, false, false, true>(step, part, begin, end);
  } else {
    lstm_backward_rows<T, false, false, false>(step, part, begin, end);
  }
}

template <typename T, bool HAS_GATES>
INLINE void gru_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t state = step.state_row(row);
    const T* x = step.x + step.x_row(row, 3 * H);  // may be the row of gates
    const T* left = step.or_zeros(step.left, state);  // may be the row of the state
    const T* __restrict u = step.or_zeros(step.recurrent, row * step.recurrent_width);
    T* a = HAS_GATES ? step.gates + row * 3 * H : nullptr;
    T* __restrict kept = HAS_GATES ? step.kept + row * H : nullptr;
    T* h = step.hidden + state;
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T r = sigmoid(x[j] + u[j]);
      const T z = sigmoid(x[H + j] + u[H + j]);
      const T n = hyperbolic_tangent(x[2 * H + j] + r * u[2 * H + j]);
      const T old = left[j];
      if (HAS_GATES) {
        a[j] = r;
        a[H + j] = z;
        a[2 * H + j] = n;
        kept[j] = u[2 * H + j];
      }
      h[j] = n + z * (old - n);
    }
  }
}

template <typename T>
INLINE void gru_forward(const Step<T>& step, int64_t, int64_t begin, int64_t end) {
  step.gates ? gru_rows<T, true>(step, begin, end) : gru_rows<T, false>(step, begin, end);
}

template <typename T, bool HAS_RECURRENT>
INLINE void gru_backward_rows(const Step<T>& step, int64_t begin, int64_t end) {
  const int64_t H = step.H;
  for (int64_t row = begin; row < end; ++row) {
    const T* __restrict kept = step.kept + row * H;
    const T* __restrict left = step.or_zeros(step.left, row * H);
    const T* __restrict outer = step.or_zeros(step.grad_hidden, row * H);
    const T* a = step.gates + row * 3 * H;
    T* out = step.grad_gates + row * 3 * H;
    T* __restrict by_state = HAS_RECURRENT ? step.grad_recurrent + row * 3 * H : nullptr;
    T* __restrict carried = step.carried + step.state_row(row);
    INDEPENDENT
    for (int64_t j = 0; j < H; ++j) {
      const T r = a[j], z = a[H + j], n = a[2 * H + j];
      const T dh = outer[j] + carried[j];
      const T dn = dh * (T(1) - z) * (T(1) - n * n);
      const T dr = dn * kept[j] * r * (T(1) - r);
      const T dz = dh * (left[j] - n) * z * (T(1) - z);
      if (HAS_RECURRENT) {
        by_state[j] = dr;
        by_state[H + j] = dz;
        by_state[2 * H + j] = dn * r;
      }
      out[j] = dr;
      out[H + j] = dz;
      out[2 * H + j] = dn;
      carried[j] = without_vanished(dh * z);
    }
  }
}

template <typename T>
INLINE void gru_backward(const Step<T>& step, int64_t, int64_t begin, int64_t end) {
  if (step.grad_recurrent) {
    gru_backward_rows<T, true>(step, begin, end);
  } else {
    gru_backward_rows<T, false>(step, begin, end);
  }
}

}  // namespace

FUNCTION(lstm_forward, Step)
FUNCTION(lstm_backward, Step)
FUNCTION(gru_forward, Step)
FUNCTION(gru_backward, Step)
