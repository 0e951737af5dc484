// The gradient of the Gumbel Tree-LSTM's composition on a CPU, in one pass over memory a step apart
// from the products. tree/choice_gradient.py has the equations of the gradient through choices, and
// tree/cpu_gradient.py binds tables; _tree_layout.h says what their rows are.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <algorithm>
#include <vector>

#include "_arguments.h"
#include "_binding.h"
#include "_elementwise.h"
#include "_threads.h"
#include "_tree_layout.h"

namespace {

// The tables of the forward pass that the derivatives of the cell need.
template <typename T>
struct Cells {
  explicit Cells(Arguments& arguments)
      : H(arguments.number()),
        query(arguments.rows<T>()),
        cell(arguments.rows<T>()),
        candidate_cell(arguments.rows<T>()),
        gates(arguments.rows<T>()),
        children(arguments.rows<int64_t>()) {}

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

// The derivatives of scores.
template <typename T>
class Scores : public Bound {
 public:
  // The threads, the Cells, the number of candidates, and the derivatives by the children's c.
  explicit Scores(Arguments& arguments)
      : threads_(arguments.threads()),
        min_numbers_(arguments.number()),
        cells_(arguments),
        num_candidates_(arguments.number()),
        by_cells_(arguments.rows<T>()),
        buffer_(threads_.number * cells_.H) {}

  // The first candidate, their number R, and the derivatives by pre-activations (R, 5H).
  void run(Arguments& arguments) override;

  INLINE void run_rows(int64_t first, T* out, int64_t part, int64_t begin, int64_t end) {
    const int64_t H = cells_.H;
    T* cell = buffer_.data() + part * H;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = first + i;
      T* pre_activations = out + i * 5 * H;
      if (cells_.children[2 * row] < 0) {
        std::fill_n(pre_activations, 5 * H, T(0));
        continue;
      }
      differentiate<T, false>(cells_, row, cells_.query, nullptr, pre_activations, cell);
      to_children(cells_, row, cell, by_cells_ + 2 * row * H, by_cells_ + (2 * row + 1) * H);
    }
  }

 private:
  Threads threads_;
  int64_t min_numbers_;
  Cells<T> cells_;
  int64_t num_candidates_;
  T* by_cells_;  // (2H)
  std::vector<T> buffer_;
};

FOR_EACH_PROCESSOR
void run_scores(Scores<float>& scores, int64_t first, float* out, int64_t part, int64_t begin,
                int64_t end) {
  scores.run_rows(first, out, part, begin, end);
}
FOR_EACH_PROCESSOR
void run_scores(Scores<double>& scores, int64_t first, double* out, int64_t part, int64_t begin,
                int64_t end) {
  scores.run_rows(first, out, part, begin, end);
}

template <typename T>
void Scores<T>::run(Arguments& arguments) {
  const int64_t first = arguments.number(), number = arguments.number();
  T* out = arguments.rows<T>();
  if (!arguments.are_right() || !check(has_rows(first, number, num_candidates_))) return;
  for_parts(share(threads_, number * 7 * cells_.H, min_numbers_), number,
            [&](int64_t part, int64_t begin, int64_t end) {
              run_scores(*this, first, out, part, begin, end);
            });
}

// The numbers of a candidate, those of the table of `ChoiceGradient`: products with r_{j+1} - r_j
// and with candidate_j - r_j.
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

template <typename T>
struct Gradient : TreeLayout {
  explicit Gradient(Arguments& arguments)
      : threads(arguments.threads()), min_numbers(arguments.number()), cells(arguments) {
    const int64_t num_tokens = arguments.number(), num_leaves = arguments.number();
    const int64_t* numbers = arguments.rows<int64_t>();
    hidden = arguments.rows<T>();
    candidate_hidden = arguments.rows<T>();
    merges = arguments.rows<int64_t>();
    merged = arguments.rows<int64_t>();
    grad_root_hidden = arguments.rows<T>();
    grad_root_cell = arguments.rows<T>();
    grad_hidden = arguments.rows<T>();
    grad_cell = arguments.rows<T>();
    grad_projections = arguments.rows<T>();
    pre_activations = arguments.rows<T>();
    temperature = arguments.rows<T>();
    relaxed_choices = arguments.rows<T>();
    score_by_hidden = arguments.rows<T>();
    score_by_cell = arguments.rows<T>();
    grad_scores = arguments.rows<T>();
    if (PyErr_Occurred()) return;
    read_layout(numbers, num_tokens, num_leaves);
    if (PyErr_Occurred()) return;
    nodes.resize(num_sentences() * num_tokens);
    columns.resize(num_sentences() * num_tokens);
    parents_cell.resize(num_sentences() * cells.H);
    buffer.resize(threads.number * 6 * cells.H);
  }

  bool is_sampled() const { return relaxed_choices; }

  Threads threads;
  int64_t min_numbers;
  Cells<T> cells;
  const T *hidden, *candidate_hidden;
  const int64_t *merges, *merged;  // as in _tree_steps.cpp
  const T *grad_root_hidden, *grad_root_cell;
  T *grad_hidden, *grad_cell, *grad_projections;  // of nodes; the last are added to
  T* pre_activations;                             // (B, 5H): the gradients of the last parents
  // If choices were sampled, else null.
  const T *temperature, *relaxed_choices;
  const T *score_by_hidden, *score_by_cell;  // (K, 2H) each: D for the left and right child
  T* grad_scores;                            // (K)

  // (B, T) each: the nodes of the layer and, of sampled choices, the numbers of its candidates.
  std::vector<int64_t> nodes;
  std::vector<Column<T>> columns;
  std::vector<T> parents_cell;  // (B, H): the gradients of the last parents
  std::vector<T> buffer;
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
  T* buffer = x.buffer.data() + part * 6 * H;
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
  Column<T>* columns = x.columns.data() + b * x.num_tokens;
  const int64_t* nodes = x.nodes.data() + b * x.num_tokens;
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
  Column<T>* columns = x.columns.data() + b * x.num_tokens;
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
    const Column<T>* columns = x.columns.data() + b * x.num_tokens;
    if (j > 0) finish(x, columns[j - 1], part);
    if (j + 1 < num_pairs) finish(x, columns[j], part);
  }
  const int64_t row = x.merged[3 * (parent - x.num_leaves) + 1];
  T* pre_activations = x.pre_activations + b * 5 * H;
  differentiate<T, true>(x.cells, row, x.grad_hidden + parent * H, x.grad_cell + parent * H,
                         pre_activations, x.parents_cell.data() + b * H);
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
  to_children(x.cells, row, x.parents_cell.data() + b * H, x.grad_cell + left * H,
              x.grad_cell + right * H);
  int64_t* nodes = x.nodes.data() + b * x.num_tokens;
  std::copy_backward(nodes + j + 1, nodes + num_pairs, nodes + num_pairs + 1);
  nodes[j] = left;
  nodes[j + 1] = right;
  if (!x.is_sampled()) return;
  insert(x, b, num_pairs, j, merged);
  T of_parent[2];
  multiply_node(x, row, parent, of_parent);
  add_layer(x, b, num_pairs, j, of_parent, x.relaxed_choices + x.relaxed(step, b));
}

// A step; -1 is after the first one. `from_parents` (n, 2H) are products for the step after.
template <typename T>
INLINE void run_sentences(Gradient<T>& x, int64_t step, const T* from_parents, int64_t part,
                          int64_t first, int64_t end) {
  for (int64_t b = first; b < end; ++b) {
    if (b < x.merging(step + 1)) complete(x, step + 1, b, from_parents + b * 2 * x.cells.H);
    if (step >= 0) {
      begin(x, step, b, part);
    } else if (x.lengths[b] == 1) {
      set_root(x, b, x.leaf(0, b));
    } else if (x.is_sampled()) {
      const Column<T>* columns = x.columns.data() + b * x.num_tokens;
      for (int64_t k = 0; k + 1 < x.lengths[b]; ++k) finish(x, columns[k], part);
    }
  }
}

FOR_EACH_PROCESSOR
void run_part(Gradient<float>& x, int64_t step, const float* from_parents, int64_t part,
              int64_t first, int64_t end) {
  run_sentences(x, step, from_parents, part, first, end);
}
FOR_EACH_PROCESSOR
void run_part(Gradient<double>& x, int64_t step, const double* from_parents, int64_t part,
              int64_t first, int64_t end) {
  run_sentences(x, step, from_parents, part, first, end);
}

template <typename T>
class Steps : public Bound {
 public:
  explicit Steps(Arguments& arguments) : gradient_(arguments) {
    next_ = gradient_.num_tokens - 2;
  }

  // The step, or -1 after the first one, and the products (n, 2H) of the gradients of the parents'
  // pre-activations in the step after it. Steps follow each other, backward.
  void run(Arguments& arguments) override {
    Gradient<T>& x = gradient_;
    const int64_t step = arguments.number();
    const T* from_parents = arguments.rows<T>();
    if (!arguments.are_right() || !check(step == next_ && step >= -1)) return;
    if (!check(from_parents || x.merging(step + 1) == 0)) return;
    --next_;
    const int64_t n = step < 0 ? x.num_sentences() : x.merging(step);
    const int64_t work = n * 50 * x.cells.H * (step < 0 ? x.num_tokens : 1);
    for_parts(share(x.threads, work, x.min_numbers), n,
              [&](int64_t part, int64_t first, int64_t end) {
                run_part(x, step, from_parents, part, first, end);
              });
  }

 private:
  Gradient<T> gradient_;
  int64_t next_;
};

PyMethodDef methods[] = {
    {"bind_scores", bind<Scores>, METH_VARARGS,
     "Whether they are doubles, and the arguments of a Scores."},
    {"bind_steps", bind<Steps>, METH_VARARGS,
     "Whether they are doubles, and the arguments of a Gradient."},
    {"run", run, METH_VARARGS, "What was bound, and its rows or step."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tree_gradient", nullptr, 0, methods,
                      nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__tree_gradient() { return PyModule_Create(&module); }
