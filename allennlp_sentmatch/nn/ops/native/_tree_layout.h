// The rows of the Gumbel Tree-LSTM's tables, shared by its steps and their gradient.
//
// There are B sentences, longest first, of at most T tokens, N in all. A sentence of L tokens has
// L - 1 merges, in the steps 0 to L - 2. Nodes have N rows of packed leaves and N - B rows of
// parents, step by step. Candidates have N - B rows for pairs of leaves, then two rows for each
// merge that is not a sentence's last one: the parent's pairs with its left and right neighbors.

#pragma once

#include <cstdint>

#include "_threads.h"

namespace {

struct TreeLayout {
  Threads threads;
  int64_t H, num_tokens, num_leaves;  // of a state; T, N
  int64_t step, n;                    // the step, and the number of its sentences
  // The sentences with more than t tokens, their first row, the tokens of sentence b, and the first
  // of a step's relaxed choices.
  const int64_t *sizes, *first, *lengths, *first_relaxed;

  int64_t num_rows() const { return n; }
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
    return first_relaxed[step] + b * (num_tokens - 1 - step);
  }
};

}  // namespace
