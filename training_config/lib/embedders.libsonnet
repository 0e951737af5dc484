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

  // An `embedder` of words, together with a BiGRU over a word's characters. `data.characters` has the
  // readers' indexers.
  with_characters(embedder, characters_dim): embedder {
    token_embedders+: {
      characters: {
        type: 'character_encoding',
        embedding: { embedding_dim: characters_dim, vocab_namespace: 'token_characters' },
        encoder: {
          type: 'gru',
          input_size: characters_dim,
          hidden_size: characters_dim / 2,
          bidirectional: true,
        },
      },
    },
  },

  // The same with an embedding of the word's part-of-speech tag, by `data.characters_and_tags`.
  with_characters_and_tags(embedder, characters_dim, tags_dim):
    self.with_characters(embedder, characters_dim) {
    token_embedders+: {
      tags: { type: 'embedding', embedding_dim: tags_dim, vocab_namespace: 'pos_tokens' },
    },
  },
}
