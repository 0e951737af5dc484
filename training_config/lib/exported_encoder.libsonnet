// A sentence encoder that `allennlp export` has written, by default the one in the package, in other
// models. `folder`: of another encoder. `train`: true to train it further.
local indexers(folder) = {
  token_indexers: {
    tokens: { type: 'exported_encoder' } + if folder == null then {} else { folder: folder },
  },
};

local embedder(train, folder, settings) = {
  token_embedders: {
    tokens: { type: 'exported_encoder', trainable: train } + settings +
            if folder == null then {} else { folder: folder },
  },
};

{
  // Words as tokens, each with the encoder's states, of 512 units in the package's encoder.
  words(train=false, folder=null):: {
    reader: indexers(folder),
    text_field_embedder: embedder(train, folder, {}),
  },

  // The encoder's vector of a sentence, of 384 units in the package's encoder.
  sentences(train=false, folder=null, size=384):: {
    reader: indexers(folder),
    text_field_embedder: embedder(train, folder, { whole_sentence: true }),
    encoder: { type: 'bag_of_embeddings', embedding_dim: size, averaged: true },
  },
}
