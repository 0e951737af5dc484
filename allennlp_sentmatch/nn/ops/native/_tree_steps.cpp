// The steps of the Gumbel Tree-LSTM's composition on a CPU. Apart from the product, a step is one
// pass over memory: it computes the candidates of the parents that the step before has made, chooses
// a pair in each sentence, and copies its candidate to a parent. _tree.h describes the tables.

#include "_tree.h"

namespace {

template <typename T>
INLINE T* projections_of(const Tree<T>& x, int64_t node) {
  const bool is_parent = x.gates && node >= x.num_leaves;
  return is_parent ? x.parent_projections + (node - x.num_leaves) * 10 * x.H
                   : x.leaf_projections + node * 10 * x.H;
}

// Computes the candidate of two nodes and returns its score.
template <typename T, bool IS_KEPT>
INLINE T compute(const Tree<T>& x, int64_t row, int64_t left, int64_t right) {
  const int64_t H = x.H;
  const T* __restrict from_left = projections_of(x, left);
  const T* __restrict from_right = projections_of(x, right) + 5 * H;
  const T* __restrict left_cell = x.cell + left * H;
  const T* __restrict right_cell = x.cell + right * H;
  const T* __restrict query = x.query;
  T* __restrict hidden = x.candidate_hidden + row * H;
  T* __restrict cell = x.candidate_cell + row * H;
  T* __restrict gates = IS_KEPT ? x.gates + row * 5 * H : nullptr;
  INDEPENDENT
  for (int64_t j = 0; j < H; ++j) {
    const T i = sigmoid(from_left[j] + from_right[j]);
    const T f_left = sigmoid(from_left[H + j] + from_right[H + j]);
    const T f_right = sigmoid(from_left[2 * H + j] + from_right[2 * H + j]);
    const T o = sigmoid(from_left[3 * H + j] + from_right[3 * H + j]);
    const T g = hyperbolic_tangent(from_left[4 * H + j] + from_right[4 * H + j]);
    const T c = f_left * left_cell[j] + f_right * right_cell[j] + i * g;
    if (IS_KEPT) {
      gates[j] = i;
      gates[H + j] = f_left;
      gates[2 * H + j] = f_right;
      gates[3 * H + j] = o;
      gates[4 * H + j] = g;
    }
    hidden[j] = o * hyperbolic_tangent(c);
    cell[j] = c;
  }
  T score = 0;
  SUM(score)  // with this sum in it, compilers would not vectorize the loop above
  for (int64_t j = 0; j < H; ++j) score += query[j] * hidden[j];
  return score;
}

// Adds the candidate of the remaining nodes `index` and `index + 1` of sentence b, in this row.
template <typename T>
INLINE void add(Tree<T>& x, int64_t b, int64_t index, int64_t row) {
  const int64_t* nodes = x.nodes + b * x.num_tokens;
  const int64_t left = nodes[index], right = nodes[index + 1];
  T& score = x.scores[b * x.num_tokens + index];
  x.candidates[b * x.num_tokens + index] = row;
  if (x.gates) {
    x.children[2 * row] = left;
    x.children[2 * row + 1] = right;
    score = compute<T, true>(x, row, left, right);
  } else {
    score = compute<T, false>(x, row, left, right);
  }
}

// Fills the row of a missing pair, at an end of a sentence. The gradient of the query is a product
// with the h of all rows; nothing else in this row is read.
template <typename T>
INLINE void leave_out(const Tree<T>& x, int64_t row) {
  x.children[2 * row] = x.children[2 * row + 1] = -1;
  std::fill_n(x.candidate_hidden + row * x.H, x.H, T(0));
}

template <typename T>
INLINE void add_leaves(Tree<T>& x, int64_t b) {
  const int64_t length = x.lengths[b];
  for (int64_t t = 0; t < length; ++t) x.nodes[b * x.num_tokens + t] = x.leaf(t, b);
  for (int64_t t = 0; t + 1 < length; ++t) add(x, b, t, x.leaf_candidate(t, b));
}

// Adds the pairs of the last merge's parent with its neighbors.
template <typename T>
INLINE void add_parent(Tree<T>& x, int64_t b, int64_t num_pairs) {
  const int64_t j = x.last[b];
  std::copy_n(x.products + b * 10 * x.H, 10 * x.H,
              projections_of(x, x.nodes[b * x.num_tokens + j]));
  for (int64_t side = 0; side < 2; ++side) {
    const int64_t index = j - 1 + side;
    const bool exists = index >= 0 && index < num_pairs;
    if (x.gates) {
      const int64_t row = x.parent_candidates(x.step - 1, b) + side;
      exists ? add(x, b, index, row) : leave_out(x, row);
    } else if (exists) {
      add(x, b, index, x.candidates[b * x.num_tokens + index]);
    }
  }
}

// Returns the index of the chosen pair.
template <typename T>
INLINE int64_t choose(Tree<T>& x, int64_t b, int64_t num_pairs) {
  if (x.given) return x.given[b * (x.num_tokens - 1) + x.step];
  const T* scores = x.scores + b * x.num_tokens;
  int64_t best = 0;
  if (!x.noise) {
    T highest = scores[0];
    for (int64_t k = 1; k < num_pairs; ++k) highest = std::max(highest, scores[k]);
    const T equal = highest - x.constants[1];
    while (best + 1 < num_pairs && scores[best] < equal) ++best;
    return best;
  }
  const T* noise = x.noise + b * x.noise_columns;
  T* logits = x.logits + b * x.num_tokens;
  for (int64_t k = 0; k < num_pairs; ++k) {
    logits[k] = scores[k] + noise[k];
    if (logits[k] > logits[best]) best = k;
  }
  if (x.relaxed) {  // (3.8)
    const T temperature = x.constants[0], highest = logits[best];
    T* __restrict y = x.relaxed_choice(x.step, b);
    T total = 0;
    for (int64_t k = 0; k < num_pairs; ++k) {
      total += y[k] = exponential((logits[k] - highest) / temperature);
    }
    for (int64_t k = 0; k < num_pairs; ++k) y[k] /= total;
  }
  return best;
}

// Replaces the nodes `j` and `j + 1` by their parent.
template <typename T>
INLINE void merge(Tree<T>& x, int64_t b, int64_t num_pairs, int64_t j) {
  const int64_t H = x.H, start = b * x.num_tokens;
  int64_t* nodes = x.nodes + start;
  int64_t* candidates = x.candidates + start;
  T* scores = x.scores + start;
  const int64_t row = candidates[j];
  if (x.gates) {
    nodes[j] = x.parent(x.step, b);
    int64_t* merged = x.merged + 3 * (nodes[j] - x.num_leaves);
    merged[0] = j > 0 ? candidates[j - 1] : -1;
    merged[1] = row;
    merged[2] = j + 1 < num_pairs ? candidates[j + 1] : -1;
  }
  const T* hidden = x.candidate_hidden + row * H;
  const T* cell = x.candidate_cell + row * H;
  std::copy_n(hidden, H, x.hidden + nodes[j] * H);
  std::copy_n(cell, H, x.cell + nodes[j] * H);
  std::copy_n(hidden, H, x.parents + b * H);
  if (num_pairs == 1) {
    std::copy_n(hidden, H, x.root_hidden + b * H);
    std::copy_n(cell, H, x.root_cell + b * H);
  }
  std::copy(nodes + j + 2, nodes + num_pairs + 1, nodes + j + 1);
  std::copy(candidates + j + 1, candidates + num_pairs, candidates + j);
  std::copy(scores + j + 1, scores + num_pairs, scores + j);
  x.merges[b * (x.num_tokens - 1) + x.step] = x.last[b] = j;
}

template <typename T>
INLINE void tree_forward(Tree<T>& x, int64_t, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; ++b) {
    const int64_t num_pairs = x.lengths[b] - 1 - x.step;
    if (x.step == 0) {
      add_leaves(x, b);
    } else {
      add_parent(x, b, num_pairs);
    }
    merge(x, b, num_pairs, choose(x, b, num_pairs));
  }
}

}  // namespace

FUNCTION(tree_forward, Tree)
