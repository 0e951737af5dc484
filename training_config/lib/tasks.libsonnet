// What is predicted of a pair of sentences: the models, without their embedder and encoder, and the
// metric that selects the epoch.
{
  // A label of the data.
  labels: {
    siamese(matcher, classifier):: {
      type: 'siamese_classifier',
      matcher: matcher,
      classifier: classifier,
    },
    cross_encoder:: { type: 'cross_encoder' },
    metric:: '+accuracy',
  },

  // The data's score, between a lowest and a highest one.
  scores(lowest, highest): {
    local scale = { lowest_score: lowest, highest_score: highest },
    siamese(matcher, classifier):: scale {
      type: 'similarity_regressor',
      scorer: { type: 'graded', matcher: matcher, classifier: classifier },
    },
    // Without a matching function.
    cosine:: scale { type: 'similarity_regressor', scorer: 'cosine' },
    cross_encoder:: scale { type: 'cross_encoder_regressor' },
    metric:: '+pearson',
  },
}
