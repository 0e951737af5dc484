// Word embeddings, as `text_field_embedder`s.
{
  // Vectors from a file. Words that the file lacks get AllenNLP's random vectors.
  pretrained(path, dim, trainable): {
    token_embedders: {
      tokens: {
        type: 'embedding',
        embedding_dim: dim,
        pretrained_file: path,
        trainable: trainable,
      },
    },
  },

  // Vectors that training starts from scratch.
  random(dim): {
    token_embedders: { tokens: { type: 'embedding', embedding_dim: dim } },
  },
}
