// Word embeddings, as `text_field_embedder`s.
//
// A configuration names its word vectors in a hidden field, `word_vectors`, and derives from it the
// embedder and the size of every part that reads the embeddings. `with_vectors` puts others there.
local data = import 'data.libsonnet';

local cove_size = 600;

// size: the width of a vector in the file; lower_case: whether all words of the file are in lower case;
// trainable: whether the vectors are trained too; zero_missing: whether words that the file lacks
// start from zeros and not from random vectors; cove: the file of MT-LSTM, to add CoVe.
local word_vectors = {
  file: null,
  size: error 'word vectors need a size',
  dim: self.size + (if self.cove == null then 0 else cove_size),
  lower_case: false,
  trainable: false,
  zero_missing: false,
  cove: null,
};

{
  // Vectors from files.
  glove_6b_100d: word_vectors { file: data.glove_6b_100d, size: 100, lower_case: true },
  glove_42b: word_vectors { file: data.glove_42b, size: 300, lower_case: true },
  glove_840b: word_vectors { file: data.glove_840b, size: 300 },
  // A transformer's vectors of single words (docs/distillation.md).
  teacher_words: word_vectors { file: data.teacher_words, size: 256, lower_case: true },
  // GloVe (300) and, computed from it, CoVe (600).
  glove_and_cove: self.glove_840b { cove: data.mt_lstm },
  // Vectors that training starts from scratch.
  from_scratch(size): word_vectors { size: size, lower_case: true, trainable: true },

  // The embedder of some word vectors. Random vectors of words that the file lacks have the mean and
  // the standard deviation of the file's.
  of(vectors): {
    local words =
      if vectors.file == null then $.random(vectors.size).token_embedders.tokens
      else {
        type: 'pretrained_embedding',
        embedding_dim: vectors.size,
        pretrained_file: vectors.file,
        trainable: vectors.trainable,
        // MT-LSTM was trained with zeros for words that GloVe lacks.
        [if vectors.zero_missing || vectors.cove != null then 'zero_missing']: true,
      },
    token_embedders: {
      tokens:
        if vectors.cove == null then words
        else { type: 'cove', embedding: words, pretrained_file: vectors.cove },
    },
  },

  // Random vectors of AllenNLP's initialization, which are trained.
  random(dim): {
    token_embedders: { tokens: { type: 'embedding', embedding_dim: dim } },
  },

  // The overrides that put other `vectors` into a stated configuration: its sections that depend on
  // them. Texts are put in lower case for words in lower case. CoVe is left out, since MT-LSTM
  // reads its own vectors only. A configuration that is a function has the defaults of its
  // arguments.
  with_vectors(stated, vectors):
    local configuration = if std.isFunction(stated) then stated() else stated;
    assert std.objectHasAll(configuration, 'word_vectors') :
           'the configuration has no word vectors that other ones could replace';
    local changed = configuration {
      word_vectors+:: { cove: null, file: vectors.file, size: vectors.size },
    };
    local read = if vectors.lower_case then data.lower_case(changed) else changed;
    {
      [section]: read[section]
      for section in ['dataset_reader', 'validation_dataset_reader', 'vocabulary', 'model']
      if std.objectHas(read, section)
    },

  // An `embedder` of words, together with a BiGRU over a word's characters. `data.characters` has
  // the readers' indexers.
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
