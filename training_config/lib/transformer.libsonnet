// Pretrained transformers of the transformers library. `model`: a name on the Hugging Face Hub, or
// the folder of a saved transformer with its tokenizer.

// A frozen transformer reads each text once in a training.
local embedder(type, model, train, settings) =
  local transformer = { type: type, model_name: model, train_parameters: train } + settings;
  {
    token_embedders: {
      tokens: if train then transformer else { type: 'cached', embedder: transformer },
    },
  };

// The names of parameters, as regular expressions that look ahead.
local in_transformer = '(?=.*transformer_model\\.)';
local in_head = '(?!.*transformer_model\\.)';
local in_embeddings = '(?=.*transformer_model\\.embeddings\\.)';
local in_layer(k) = '(?=.*transformer_model\\..*layer\\.%d\\.)' % k;
local pooler = 'transformer_model\\.pooler\\.';
local embeddings_or_pooler = 'transformer_model\\.(embeddings|pooler)\\.';
local undecayed = '(bias|[Nn]orm\\w*\\.weight)$';

// Two groups of parameters, without the frozen ones: those with weight decay, and biases and norms,
// which have none.
local groups(where, lr, weight_decay, frozen) = [
  [['^%s(?!.*%s)(?!.*%s)' % [where, undecayed, frozen]], { lr: lr, weight_decay: weight_decay }],
  [['^%s(?=.*%s)(?!.*%s)' % [where, undecayed, frozen]], { lr: lr, weight_decay: 0.0 }],
];

{
  // Word pieces as tokens, `[CLS]` and `[SEP]` among them. A text is cut to `max_length` word
  // pieces. `reader`: settings for the readers of a data set. `train`: false for a frozen
  // transformer.
  word_pieces(model, train, max_length=128, settings={}):: {
    local type = 'pretrained_transformer',
    reader: {
      tokenizer: { type: type, model_name: model, max_length: max_length },
      token_indexers: { tokens: { type: type, model_name: model } },
    },
    text_field_embedder: embedder(type, model, train, settings),
  },

  // Both sentences of a pair as one text of word pieces, for a cross-encoder. The longer sentence
  // is cut until both have `max_length` word pieces together.
  joined_pairs(model, train, max_length=256, settings={}):: {
    local type = 'pretrained_transformer',
    reader: {
      combine_input_fields: true,
      max_length: max_length,
      tokenizer: { type: type, model_name: model },
      token_indexers: { tokens: { type: type, model_name: model } },
    },
    text_field_embedder: embedder(type, model, train, settings),
  },

  // Words as tokens, each the mean of its word pieces. Of a long text, the transformer reads one
  // part of `max_length` word pieces after the other; nothing is cut.
  words(model, train, max_length=512, settings={}):: {
    local type = 'pretrained_transformer_mismatched',
    reader: {
      token_indexers: { tokens: { type: type, model_name: model, max_length: max_length } },
    },
    text_field_embedder: embedder(type, model, train, { max_length: max_length } + settings),
  },

  // The mean of the tokens' vectors, of `size` units: a sentence encoder without parameters.
  mean(size):: {
    type: 'pooled',
    encoder: { type: 'pass_through', input_dim: size },
    pooling: 'mean',
  },

  // Optimizer and scheduler of a trainer of `num_epochs`: AdamW; the learning rate rises during the
  // first part `warm_up` of all steps and falls linearly afterwards.
  //
  // lr: of the transformer's last layer. head_lr: of everything that is not pretrained.
  // num_layers, layer_decay: with a number of layers, each layer has `layer_decay` times the
  // learning rate of the next one, and the embeddings have the rate of a layer below the first.
  // train_embeddings: false to freeze them: often half of the parameters.
  fine_tuning(
    num_epochs,
    lr,
    head_lr,
    num_layers=0,
    layer_decay=1.0,
    weight_decay=0.01,
    warm_up=0.1,
    train_embeddings=true,
  )::
    local frozen = if train_embeddings then pooler else embeddings_or_pooler;
    local by_layer = std.flattenArrays([
      groups(in_layer(k), lr * std.pow(layer_decay, num_layers - 1 - k), weight_decay, frozen)
      for k in std.range(0, num_layers - 1)
    ]) + (
      if !train_embeddings then []
      else groups(in_embeddings, lr * std.pow(layer_decay, num_layers), weight_decay, frozen)
    );
    {
      num_epochs: num_epochs,
      optimizer: {
        type: 'fused_adamw',
        lr: lr,
        weight_decay: weight_decay,
        parameter_groups:
          (if num_layers > 0 then by_layer else groups(in_transformer, lr, weight_decay, frozen)) +
          groups(in_head, head_lr, weight_decay, frozen) +
          // No encoder reads the transformer's own pooling layer.
          [[[frozen], { requires_grad: false }]],
      },
      learning_rate_scheduler: { type: 'slanted_triangular', cut_frac: warm_up },
    },
}
