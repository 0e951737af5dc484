// The gradient of the Gumbel Tree-LSTM's composition on a CPU, in one pass over memory a step apart
// from the products. gumbel_tree_lstm/cpu_gradient.py has the equations of the gradient through choices, and
// binds tables; _tree_layout.h says what their rows are.

#include <algorithm>

#include "_elementwise.h"
#include "_tree_layout.h"

namespace {

// The tables of the forward pass that the derivatives of the cell need.
template <typename T>
struct Cells {
  int64_t H;
  const T *query, *cell, *candidate_cell, *gates;
  const int64_t* children;
};

// From the gradient of a candidate's h, and of its c unless that is null, to those of its
// pre-activations, (5H), and its c.
template <typename T, bool HAS_CELL>
INLINE void differentiate(const Cells<T>& x, int64_t row, const T* by_hidden, const T* by_cell,
                          T* pre_activations, T* cell) {
  const int64_t H = x.H;
  const T* __restrict a = x.gates + row * 5 * H;
  const T* __restrict c = x.candidate_cell + row * H;
  const T* __restrict left_cell = x.cell + x.children[2 * row] * H;
  const T* __restrict right_cell = x.cell + x.children[2 * row + 1] * H;
  const T* __restrict dh_row = by_hidden;
  T* __restrict out = pre_activations;
  T* __restrict out_cell = cell;
  INDEPENDENT
  for (int64_t j = 0; j < H; ++j) {
    const T i = a[j], f_left = a[H + j], f_right = a[2 * H + j], o = a[3 * H + j];
    const T g = a[4 * H + j], dh = dh_row[j], tanh_c = hyperbolic_tangent(c[j]);
    const T dc = dh * o * (T(1) - tanh_c * tanh_c) + (HAS_CELL ? by_cell[j] : T(0));
    out[j] = dc * g * i * (T(1) - i);
    out[H + j] = dc * left_cell[j] * f_left * (T(1) - f_left);
    out[2 * H + j] = dc * right_cell[j] * f_right * (T(1) - f_right);
    out[3 * H + j] = dh * tanh_c * o * (T(1) - o);
    out[4 * H + j] = dc * i * (T(1) - g * g);
    out_cell[j] = dc;
  }
}

// From the gradient of a candidate's c to those of its children's c.
template <typename T>
INLINE void to_children(const Cells<T>& x, int64_t row, const T* cell, T* left, T* right) {
  const int64_t H = x.H;
  const T* __restrict f_left = x.gates + row * 5 * H + H;
  const T* __restrict f_right = f_left + H;
  const T* __restrict dc = cell;
  T* __restrict left_cell = left;
  T* __restrict right_cell = right;
  INDEPENDENT
  for (int64_t j = 0; j < H; ++j) {
    left_cell[j] = dc[j] * f_left[j];
    right_cell[j] = dc[j] * f_right[j];
  }
}

// The derivatives of the scores of `n` candidates from `first` on.
template <typename T>
struct Scores {
  Threads threads;
  int64_t first, n;
  Cells<T> cells;
  T* by_cells;         // (2H), of all candidates: by the children's c
  T* pre_activations;  // (n, 5H)
  T* buffer;           // (H) for each thread

  int64_t num_rows() const { return n; }
  int64_t num_numbers() const { return n * 7 * cells.H; }
};

template <typename T>
INLINE void tree_scores(Scores<T>& x, int64_t part, int64_t begin, int64_t end) {
  const int64_t H = x.cells.H;
  T* cell = x.buffer + part * H;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = x.first + i;
    T* pre_activations = x.pre_activations + i * 5 * H;
    if (x.cells.children[2 * row] < 0) {
      std::fill_n(pre_activations, 5 * H, T(0));
      continue;
    }
    differentiate<T, false>(x.cells, row, x.cells.query, nullptr, pre_activations, cell);
    to_children(x.cells, row, cell, x.by_cells + 2 * row * H, x.by_cells + (2 * row + 1) * H);
  }
}

// The numbers of a candidate: products with r_{j+1} - r_j and with candidate_j - r_j. Python gives
// each column 15 words, which are enough for doubles.
template <typename T>
struct Column {
  int64_t candidate = -1;
  T left[2] = {}, right[2] = {};          // with the gradient of the left and the right child
  T own_left[2] = {}, own_right[2] = {};  // what one of the candidate's d adds to them
  T before[2] = {};  // what one of d of the candidate before adds to the first
  T after[2] = {};   // what one of d of the candidate after adds to the second
  T score = 0;       // s
  T d = 0;           // of the last layer
};

// A step, of `n` sentences; -1 is after the first one.
template <typename T>
struct Gradient : TreeLayout {
  Cells<T> cells;
  const T *hidden, *candidate_hidden;
  const int64_t *merges, *merged;  // as in _tree_steps.cpp
  const T* from_parents;           // (n', 2H): products for the step after
  const T *grad_root_hidden, *grad_root_cell;
  T *grad_hidden, *grad_cell, *grad_projections;  // of nodes; the last are added to
  T* pre_activations;                             // (B, 5H): the gradients of the last parents
  T *parents_cell, *buffer;  // (B, H): the gradients of the last parents; (6H) for each thread
  // If choices were sampled, else null.
  const T *temperature, *relaxed_choices;
  const T *score_by_hidden, *score_by_cell;  // (K, 2H) each: D for the left and right child
  T* grad_scores;                            // (K)
  // (B, T) each: the nodes of the layer and, of sampled choices, the numbers of its candidates.
  int64_t* nodes;
  Column<T>* columns;

  int64_t num_numbers() const { return n * 50 * H * (step < 0 ? num_tokens : 1); }
  bool is_sampled() const { return relaxed_choices; }
};

template <typename T>
INLINE void set_root(Gradient<T>& x, int64_t b, int64_t node) {
  const int64_t H = x.cells.H;
  x.nodes[b * x.num_tokens] = node;
  std::copy_n(x.grad_root_hidden + b * H, H, x.grad_hidden + node * H);
  std::copy_n(x.grad_root_cell + b * H, H, x.grad_cell + node * H);
}

template <typename T>
INLINE void add_scaled(int64_t size, T scale, const T* values, T* sums) {
  const T* __restrict from = values;
  T* __restrict to = sums;
  INDEPENDENT
  for (int64_t j = 0; j < size; ++j) to[j] += scale * from[j];
}

// Adds the gradients of a candidate's pre-activations to those of its children's projections.
template <typename T>
INLINE void add_projections(Gradient<T>& x, int64_t row, T scale, const T* pre_activations) {
  const int64_t H = x.cells.H;
  const int64_t left = x.cells.children[2 * row], right = x.cells.children[2 * row + 1];
  add_scaled(5 * H, scale, pre_activations, x.grad_projections + left * 10 * H);
  add_scaled(5 * H, scale, pre_activations, x.grad_projections + right * 10 * H + 5 * H);
}

// Passes on the gradient of the score of a candidate that is in no layer further down.
template <typename T>
INLINE void finish(Gradient<T>& x, const Column<T>& column, int64_t part) {
  const int64_t H = x.cells.H, row = column.candidate;
  const T score = column.score;
  x.grad_scores[row] = score;
  for (int64_t side = 0; side < 2; ++side) {
    const int64_t child = x.cells.children[2 * row + side], from = (2 * row + side) * H;
    add_scaled(H, score, x.score_by_hidden + from, x.grad_hidden + child * H);
    add_scaled(H, score, x.score_by_cell + from, x.grad_cell + child * H);
  }
  T* buffer = x.buffer + part * 6 * H;
  differentiate<T, false>(x.cells, row, x.cells.query, nullptr, buffer, buffer + 5 * H);
  add_projections(x, row, score, buffer);
}

// The two products of a column, for a pair of nodes.
template <typename T>
INLINE void multiply_part(int64_t H, const T* left, const T* right, const T* candidate,
                          const T* other, T* sums) {
  T difference = 0, own = 0;
  PRAGMA(omp simd reduction(+ : difference, own))
  for (int64_t j = 0; j < H; ++j) {
    difference += (right[j] - left[j]) * other[j];
    own += (candidate[j] - left[j]) * other[j];
  }
  sums[0] += difference;
  sums[1] += own;
}

template <typename T>
INLINE void multiply(const Gradient<T>& x, int64_t row, const T* hidden, const T* cell, T* sums) {
  const int64_t H = x.cells.H;
  const int64_t left = x.cells.children[2 * row] * H, right = x.cells.children[2 * row + 1] * H;
  sums[0] = sums[1] = 0;
  multiply_part(H, x.hidden + left, x.hidden + right, x.candidate_hidden + row * H, hidden, sums);
  multiply_part(H, x.cells.cell + left, x.cells.cell + right, x.cells.candidate_cell + row * H,
                cell, sums);
}

// The products with D of a candidate for its left child (side 0) or right child (side 1).
template <typename T>
INLINE void multiply_score(const Gradient<T>& x, int64_t row, int64_t candidate, int64_t side,
                           T* sums) {
  const int64_t from = (2 * candidate + side) * x.cells.H;
  multiply(x, row, x.score_by_hidden + from, x.score_by_cell + from, sums);
}

// The products with the gradient of a node.
template <typename T>
INLINE void multiply_node(const Gradient<T>& x, int64_t row, int64_t node, T* sums) {
  multiply(x, row, x.grad_hidden + node * x.cells.H, x.grad_cell + node * x.cells.H, sums);
}

// Replaces the parent's pairs by those of the pair that it was merged from, l and r = j + 1: (l -
// 1, l), (l, r) and (r, r + 1). The layer has `num_pairs`.
template <typename T>
INLINE void insert(Gradient<T>& x, int64_t b, int64_t num_pairs, int64_t j, const int64_t* merged) {
  Column<T>* columns = x.columns + b * x.num_tokens;
  const int64_t* nodes = x.nodes + b * x.num_tokens;
  std::copy_backward(columns + j, columns + num_pairs - 1, columns + num_pairs);
  for (int64_t k = 0; k < 3; ++k) {
    if (merged[k] < 0) continue;
    const int64_t index = j - 1 + k, row = merged[k];
    Column<T>& column = columns[index] = Column<T>();
    column.candidate = row;
    multiply_score(x, row, row, 0, column.own_left);
    multiply_score(x, row, row, 1, column.own_right);
    multiply_node(x, row, nodes[index], column.left);
    multiply_node(x, row, nodes[index + 1], column.right);
  }
  for (int64_t index = std::max(j - 2, int64_t(0)); index <= j + 1 && index + 1 < num_pairs;
       ++index) {
    Column<T>& column = columns[index];
    Column<T>& next = columns[index + 1];
    multiply_score(x, column.candidate, next.candidate, 0, column.after);
    multiply_score(x, next.candidate, column.candidate, 1, next.before);
  }
  // The outer nodes have not been passed the unfinished parts of the candidates beyond.
  for (int64_t k = 0; k < 2; ++k) {
    if (j >= 2) columns[j - 1].left[k] += columns[j - 2].score * columns[j - 1].before[k];
    if (j + 2 < num_pairs) {
      columns[j + 1].right[k] += columns[j + 2].score * columns[j + 1].after[k];
    }
  }
}

// Adds d of a layer with this relaxed choice y; equation (1).
template <typename T>
INLINE void add_layer(Gradient<T>& x, int64_t b, int64_t num_pairs, int64_t j, const T* of_parent,
                      const T* y) {
  Column<T>* columns = x.columns + b * x.num_tokens;
  T after = 0, mean = 0;
  for (int64_t k = num_pairs - 1; k >= 0; --k) {
    const T* products = k < j ? columns[k].left : k > j ? columns[k].right : of_parent;
    columns[k].d = products[1] + after;
    after += products[0];
    mean += y[k] * columns[k].d;
  }
  for (int64_t k = 0; k < num_pairs; ++k) {
    columns[k].d = y[k] * (columns[k].d - mean) / x.temperature[0];
  }
  for (int64_t k = 0; k < num_pairs; ++k) {
    Column<T>& column = columns[k];
    const T d = column.d, before = k > 0 ? columns[k - 1].d : T(0);
    const T after = k + 1 < num_pairs ? columns[k + 1].d : T(0);
    for (int64_t i = 0; i < 2; ++i) {
      column.left[i] += d * column.own_left[i] + before * column.before[i];
      column.right[i] += d * column.own_right[i] + after * column.after[i];
    }
    column.score += d;
  }
}

// Passes on what is complete for the parent of a step, and its gradient to its pre-activations.
template <typename T>
INLINE void begin(Gradient<T>& x, int64_t step, int64_t b, int64_t part) {
  const int64_t H = x.cells.H, num_pairs = x.lengths[b] - 1 - step;
  const int64_t j = x.merges[b * (x.num_tokens - 1) + step], parent = x.parent(step, b);
  if (num_pairs == 1) set_root(x, b, parent);
  if (x.is_sampled()) {  // the parent's pairs
    const Column<T>* columns = x.columns + b * x.num_tokens;
    if (j > 0) finish(x, columns[j - 1], part);
    if (j + 1 < num_pairs) finish(x, columns[j], part);
  }
  const int64_t row = x.merged[3 * (parent - x.num_leaves) + 1];
  T* pre_activations = x.pre_activations + b * 5 * H;
  differentiate<T, true>(x.cells, row, x.grad_hidden + parent * H, x.grad_cell + parent * H,
                         pre_activations, x.parents_cell + b * H);
  add_projections(x, row, T(1), pre_activations);
}

// Goes down a layer, with the product of the parent's pre-activations with W_comp, (2H).
template <typename T>
INLINE void complete(Gradient<T>& x, int64_t step, int64_t b, const T* from_parent) {
  const int64_t H = x.cells.H, num_pairs = x.lengths[b] - 1 - step;
  const int64_t j = x.merges[b * (x.num_tokens - 1) + step], parent = x.parent(step, b);
  const int64_t* merged = x.merged + 3 * (parent - x.num_leaves);
  const int64_t row = merged[1];
  const int64_t left = x.cells.children[2 * row], right = x.cells.children[2 * row + 1];
  std::copy_n(from_parent, H, x.grad_hidden + left * H);
  std::copy_n(from_parent + H, H, x.grad_hidden + right * H);
  to_children(x.cells, row, x.parents_cell + b * H, x.grad_cell + left * H,
              x.grad_cell + right * H);
  int64_t* nodes = x.nodes + b * x.num_tokens;
  std::copy_backward(nodes + j + 1, nodes + num_pairs, nodes + num_pairs + 1);
  nodes[j] = left;
  nodes[j + 1] = right;
  if (!x.is_sampled()) return;
  insert(x, b, num_pairs, j, merged);
  T of_parent[2];
  multiply_node(x, row, parent, of_parent);
  add_layer(x, b, num_pairs, j, of_parent, x.relaxed_choices + x.relaxed(step, b));
}

template <typename T>
INLINE void tree_backward(Gradient<T>& x, int64_t part, int64_t first, int64_t end) {
  const int64_t step = x.step;
  for (int64_t b = first; b < end; ++b) {
    if (b < x.merging(step + 1)) complete(x, step + 1, b, x.from_parents + b * 2 * x.cells.H);
    if (step >= 0) {
      begin(x, step, b, part);
    } else if (x.lengths[b] == 1) {
      set_root(x, b, x.leaf(0, b));
    } else if (x.is_sampled()) {
      const Column<T>* columns = x.columns + b * x.num_tokens;
      for (int64_t k = 0; k + 1 < x.lengths[b]; ++k) finish(x, columns[k], part);
    }
  }
}

}  // namespace

FUNCTION(tree_scores, Scores)
FUNCTION(tree_backward, Gradient)
