// Word embeddings, as `text_field_embedder`s.
local data = import 'data.libsonnet';

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

  // Fixed vectors of GloVe (300) and, computed from them, CoVe (600).
  glove_and_cove_dim: 900,
  glove_and_cove: {
    token_embedders: {
      tokens: {
        type: 'cove',
        embedding: $.pretrained(data.glove_840b, 300, trainable=false).token_embedders.tokens,
        pretrained_file: data.mt_lstm,
      },
    },
  },
}
