// The gradient of the Gumbel Tree-LSTM's composition on a CPU. Apart from the products, a step is
// one pass over memory. gumbel_tree_lstm/cpu.py has the equations of the gradient through choices,
// and _tree.h describes the tables.

#include "_tree.h"

namespace {

// Goes from the gradient of a candidate's h, and of its c unless that is null, to the gradients of
// its pre-activations, (5H), and its c.
template <typename T, bool HAS_CELL>
INLINE void differentiate(const Tree<T>& x, int64_t row, const T* by_hidden, const T* by_cell,
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

// Goes from the gradient of a candidate's c to the gradients of its children's c.
template <typename T>
INLINE void to_children(const Tree<T>& x, int64_t row, const T* cell, T* left, T* right) {
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

// Computes the derivatives of the scores of `n` candidates from `first_candidate` on.
template <typename T>
INLINE void tree_scores(Tree<T>& x, int64_t part, int64_t begin, int64_t end) {
  const int64_t H = x.H;
  T* cell = x.buffer + part * 6 * H;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = x.first_candidate + i;
    T* pre_activations = x.pre_activations + i * 5 * H;
    if (x.children[2 * row] < 0) {
      std::fill_n(pre_activations, 5 * H, T(0));
      continue;
    }
    differentiate<T, false>(x, row, x.query, nullptr, pre_activations, cell);
    to_children(x, row, cell, x.score_by_cell + 2 * row * H, x.score_by_cell + (2 * row + 1) * H);
  }
}

template <typename T>
INLINE void set_root(Tree<T>& x, int64_t b, int64_t node) {
  const int64_t H = x.H;
  x.nodes[b * x.num_tokens] = node;
  std::copy_n(x.root_hidden + b * H, H, x.grad_hidden + node * H);
  std::copy_n(x.root_cell + b * H, H, x.grad_cell + node * H);
}

template <typename T>
INLINE void add_scaled(int64_t size, T scale, const T* values, T* sums) {
  const T* __restrict from = values;
  T* __restrict to = sums;
  INDEPENDENT
  for (int64_t j = 0; j < size; ++j) to[j] += scale * from[j];
}

// Adds the gradients of a candidate's pre-activations to the gradients of its children's
// projections.
template <typename T>
INLINE void add_projections(Tree<T>& x, int64_t row, T scale, const T* pre_activations) {
  const int64_t H = x.H;
  const int64_t left = x.children[2 * row], right = x.children[2 * row + 1];
  add_scaled(5 * H, scale, pre_activations, x.grad_projections + left * 10 * H);
  add_scaled(5 * H, scale, pre_activations, x.grad_projections + right * 10 * H + 5 * H);
}

// Does the same for the gradient of a candidate's score, summed over the layers that it was in.
template <typename T>
INLINE void add_score(Tree<T>& x, int64_t row, int64_t part) {
  if (x.children[2 * row] < 0) return;
  T* buffer = x.buffer + part * 6 * x.H;
  differentiate<T, false>(x, row, x.query, nullptr, buffer, buffer + 5 * x.H);
  add_projections(x, row, x.grad_scores[row], buffer);
}

// Adds the products of a gradient with (candidate - left) and (right - left), (H) each.
template <typename T>
INLINE void multiply(int64_t H, const T* grad, const T* candidate, const T* left, const T* right,
                     T& by_merge, T& by_shift) {
  T merge = 0, shift = 0;
  PRAGMA(omp simd reduction(+ : merge, shift))
  for (int64_t j = 0; j < H; ++j) {
    merge += (candidate[j] - left[j]) * grad[j];
    shift += (right[j] - left[j]) * grad[j];
  }
  by_merge += merge;
  by_shift += shift;
}

// Adds the gradient of a layer's relaxed choice y, in which pair j was merged to `parent`, to the
// gradients of the layer's nodes; equation (1).
template <typename T>
INLINE void add_choice(Tree<T>& x, int64_t b, int64_t num_pairs, int64_t j, int64_t parent,
                       const T* y) {
  const int64_t H = x.H;
  const int64_t* nodes = x.nodes + b * x.num_tokens;
  const int64_t* candidates = x.candidates + b * x.num_tokens;
  T* d = x.scores + b * x.num_tokens;
  T after = 0, mean = 0;
  for (int64_t k = num_pairs - 1; k >= 0; --k) {
    const int64_t next = (k == j ? parent : nodes[k < j ? k : k + 1]) * H;  // in the layer above
    const int64_t row = candidates[k] * H, left = nodes[k] * H, right = nodes[k + 1] * H;
    T by_merge = 0, by_shift = 0;
    multiply(H, x.grad_hidden + next, x.candidate_hidden + row, x.hidden + left, x.hidden + right,
             by_merge, by_shift);
    multiply(H, x.grad_cell + next, x.candidate_cell + row, x.cell + left,
             x.cell + right, by_merge, by_shift);
    d[k] = by_merge + after;
    after += by_shift;
    mean += y[k] * d[k];
  }
  for (int64_t k = 0; k < num_pairs; ++k) {
    const T by_score = y[k] * (d[k] - mean) / x.constants[0];
    x.grad_scores[candidates[k]] += by_score;
    for (int64_t side = 0; side < 2; ++side) {
      const int64_t child = nodes[k + side] * H, from = (2 * candidates[k] + side) * H;
      add_scaled(H, by_score, x.score_by_hidden + from, x.grad_hidden + child);
      add_scaled(H, by_score, x.score_by_cell + from, x.grad_cell + child);
    }
  }
}

// Passes the gradient of the parent of a step to its pre-activations.
template <typename T>
INLINE void begin(Tree<T>& x, int64_t step, int64_t b) {
  const int64_t H = x.H, parent = x.parent(step, b);
  if (step + 2 == x.lengths[b]) set_root(x, b, parent);
  const int64_t row = x.merged[3 * (parent - x.num_leaves) + 1];
  T* pre_activations = x.pre_activations + b * 5 * H;
  differentiate<T, true>(x, row, x.grad_hidden + parent * H, x.grad_cell + parent * H,
                         pre_activations, x.parents_cell + b * H);
  add_projections(x, row, T(1), pre_activations);
}

// Goes down a layer, with the product of the parent's pre-activations with W_comp, (2H).
template <typename T>
INLINE void complete(Tree<T>& x, int64_t step, int64_t b, const T* from_parent) {
  const int64_t H = x.H, num_pairs = x.lengths[b] - 1 - step;
  const int64_t j = x.merges[b * (x.num_tokens - 1) + step], parent = x.parent(step, b);
  const int64_t* merged = x.merged + 3 * (parent - x.num_leaves);
  const int64_t left = x.children[2 * merged[1]];
  const int64_t right = x.children[2 * merged[1] + 1];
  std::copy_n(from_parent, H, x.grad_hidden + left * H);
  std::copy_n(from_parent + H, H, x.grad_hidden + right * H);
  to_children(x, merged[1], x.parents_cell + b * H, x.grad_cell + left * H,
              x.grad_cell + right * H);
  int64_t* nodes = x.nodes + b * x.num_tokens;
  std::copy_backward(nodes + j + 1, nodes + num_pairs, nodes + num_pairs + 1);
  nodes[j] = left;
  nodes[j + 1] = right;
  if (!x.relaxed) return;
  // The pairs (j - 1, j), (j, j + 1), (j + 1, j + 2) of the children replace the parent's pairs.
  int64_t* candidates = x.candidates + b * x.num_tokens;
  std::copy_backward(candidates + j, candidates + num_pairs - 1, candidates + num_pairs);
  for (int64_t k = 0; k < 3; ++k) {
    if (merged[k] >= 0) candidates[j - 1 + k] = merged[k];
  }
  add_choice(x, b, num_pairs, j, parent, x.relaxed_choice(step, b));
}

template <typename T>
INLINE void tree_backward(Tree<T>& x, int64_t part, int64_t first, int64_t end) {
  for (int64_t b = first; b < end; ++b) {
    if (b < x.merging(x.step + 1)) complete(x, x.step + 1, b, x.products + b * 2 * x.H);
    if (x.step >= 0) {
      begin(x, x.step, b);
    } else if (x.lengths[b] == 1) {
      set_root(x, b, x.leaf(0, b));
    } else if (x.relaxed) {
      for (int64_t t = 0; t + 1 < x.lengths[b]; ++t) {
        add_score(x, x.leaf_candidate(t, b), part);
        if (t + 2 == x.lengths[b]) break;  // this parent has no pairs
        for (int64_t side = 0; side < 2; ++side) {
          add_score(x, x.parent_candidates(t, b) + side, part);
        }
      }
    }
  }
}

}  // namespace

FUNCTION(tree_scores, Tree)
FUNCTION(tree_backward, Tree)
