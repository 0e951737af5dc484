// The tables of the Gumbel Tree-LSTM's composition, shared by its steps and their gradient.
//
// There are B sentences, longest first, of at most T tokens, N in all. A sentence of L tokens has
// L - 1 merges, in the steps 0 to L - 2. Nodes have N rows of packed leaves and N - B rows of
// parents, step by step. Candidates have N - B rows for pairs of leaves, then two rows for each
// merge that is not a sentence's last one: the parent's pairs with its left and right neighbors.
// The projections of a node are W_comp's products with its h as a left child, with b_comp, and as a
// right child: 10H numbers.
//
// Without `gates`, there is no backward pass: a parent takes the row of its left child, and its
// candidates take the rows of the candidates that they replace.

#pragma once

#include <algorithm>
#include <cstdint>

#include "_elementwise.h"
#include "_threads.h"

namespace {

template <typename T>
struct Tree {
  Threads threads;
  int64_t H, num_tokens, num_leaves;  // of a state; T, N
  int64_t step, n;                    // the step, and the number of its sentences
  int64_t noise_columns, first_candidate;
  // The number of sentences with more than t tokens, their first row, the number of tokens of
  // sentence b, and the first of a step's relaxed choices.
  const int64_t *sizes, *first, *lengths, *first_relaxed;
  const T *query, *constants;  // q; temperature, and the difference below which scores are equal
  int64_t* merges;             // (B, T - 1)
  T *hidden, *cell, *candidate_hidden, *candidate_cell;  // of nodes and candidates
  T* gates;                    // of candidates, (5H): i, f_left, f_right, o, g
  int64_t* children;           // of candidates, (2): the nodes, or -1 without a candidate
  int64_t* merged;             // (N - B, 3): the chosen candidate, between its neighbors or -1
  T* relaxed;                  // see `relaxed_choice`; null if choices are not sampled
  int64_t *nodes, *candidates; // (B, T) each: the rows of the layer, from left to right
  T *scores, *logits;          // (B, T) each, of candidates; `scores` backward: their gradients
  const T* products;           // forward: (n, 10H), projections of the parents of the step before;
                               // backward: (n', 2H), of `pre_activations` of the step after
  // Forward
  const int64_t* given;     // (B, T - 1), or null
  const T* noise;           // (B, noise_columns), of the step; or null
  T *leaf_projections, *parent_projections;  // (N, 10H), and (N - B, 10H) to keep
  T* parents;               // (B, H): h of the parents of the last step
  T *root_hidden, *root_cell;
  int64_t* last;            // (B), the last merge of each sentence
  // Backward
  T *grad_hidden, *grad_cell, *grad_projections;  // of nodes; the last are added to
  T *pre_activations, *parents_cell;  // (B, 5H), (B, H): gradients of the last step's parents
  T* buffer;                          // (6H) for each thread
  T *score_by_hidden, *score_by_cell; // (K, 2H) each: D for the left and right child
  T* grad_scores;                     // (K), added to

  int64_t num_rows() const { return n; }
  int64_t num_numbers() const { return n * 20 * H * (step <= 0 ? num_tokens : 1); }
  int64_t num_merges() const { return num_leaves - sizes[0]; }
  // The number of sentences with a merge in this step.
  int64_t merging(int64_t step) const { return step + 1 < num_tokens ? sizes[step + 1] : 0; }

  // Rows of nodes: of token t of sentence b, and of its parent of a step.
  int64_t leaf(int64_t t, int64_t b) const { return first[t] + b; }
  int64_t parent(int64_t step, int64_t b) const { return num_merges() + first[step + 1] + b; }
  // Rows of candidates: of the tokens t and t + 1, and the first of the parent's two.
  int64_t leaf_candidate(int64_t t, int64_t b) const { return first[t + 1] - sizes[0] + b; }
  int64_t parent_candidates(int64_t step, int64_t b) const {
    return num_merges() + 2 * (first[step + 2] - first[2] + b);
  }
  // The T - 1 - step numbers of a sentence's relaxed choice.
  T* relaxed_choice(int64_t step, int64_t b) const {
    return relaxed + first_relaxed[step] + b * (num_tokens - 1 - step);
  }
};

}  // namespace
