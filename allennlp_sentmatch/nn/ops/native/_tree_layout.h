// The rows of the Gumbel Tree-LSTM's tables, shared by its steps and their gradient.
//
// There are B sentences, longest first, of at most T tokens, N in all. A sentence of L tokens has
// L - 1 merges, in the steps 0 to L - 2. Nodes have N rows of packed leaves and N - B rows of
// parents, step by step. Candidates have N - B rows for pairs of leaves, then two rows for each
// merge that is not a sentence's last one: the parent's pairs with its left and right neighbors.

#pragma once

#include "_packing.h"

namespace {

struct TreeLayout : Packing {
  int64_t num_tokens, num_leaves;  // T, N

  // The first two of a batch with a pair of tokens.
  void read_layout(const int64_t* numbers, int64_t T, int64_t N) {
    num_tokens = T;
    num_leaves = N;
    if (T < 2) {
      PyErr_SetString(PyExc_ValueError, "a sentence must have two tokens");
      return;
    }
    read(numbers, T, N);
    if (PyErr_Occurred()) return;
    for (int64_t b = 0; b < sizes[0]; ++b) {
      int64_t length = 1;
      while (length < T && sizes[length] > b) ++length;
      lengths.push_back(length);
    }
    relaxed_.push_back(0);
    for (int64_t step = 0; step + 1 < T; ++step) {
      relaxed_.push_back(relaxed_[step] + sizes[step + 1] * (T - 1 - step));
    }
  }

  int64_t num_sentences() const { return sizes[0]; }
  int64_t num_merges() const { return num_leaves - sizes[0]; }
  // The number of sentences with a merge in this step.
  int64_t merging(int64_t step) const { return step + 1 < num_tokens ? sizes[step + 1] : 0; }

  // Rows of nodes: that of token t of sentence b, and that of its parent of a step.
  int64_t leaf(int64_t t, int64_t b) const { return first[t] + b; }
  int64_t parent(int64_t step, int64_t b) const { return num_merges() + first[step + 1] + b; }
  // Rows of candidates: that of the tokens t and t + 1, and the first of the parent's two.
  int64_t leaf_candidate(int64_t t, int64_t b) const { return first[t + 1] - sizes[0] + b; }
  int64_t parent_candidates(int64_t step, int64_t b) const {
    return num_merges() + 2 * (first[step + 2] - first[2] + b);
  }
  // The first of the T - 1 - step numbers for a sentence's relaxed choice.
  int64_t relaxed(int64_t step, int64_t b) const {
    return relaxed_[step] + b * (num_tokens - 1 - step);
  }

  std::vector<int64_t> lengths;

 private:
  std::vector<int64_t> relaxed_;
};

}  // namespace
