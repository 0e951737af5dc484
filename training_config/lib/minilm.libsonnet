// A pretrained transformer for pairs of sentences: by default all-MiniLM-L6-v2, a sentence encoder
// of 22M parameters. Not from a paper. The number of epochs of fine-tuning was chosen on SICK's
// trial set, among 3, 4 and, with other settings, 5.
//
// transformer: a name on the Hugging Face Hub, or the folder of a saved transformer.
// size: the width of its vectors; num_layers: the number of its layers.
// task: of lib/tasks.libsonnet.
local data = import 'data.libsonnet';
local tasks = import 'tasks.libsonnet';
local transformers = import 'transformer.libsonnet';

local data_loader = { batch_sampler: { type: 'bucket', batch_size: 32 } };

// The trainer's settings. The learning rates belong to the last layer and to the head.
local recipe(num_layers, num_epochs, lr=1e-4, head_lr=1e-3) = transformers.fine_tuning(
  num_epochs=num_epochs,
  lr=lr,
  head_lr=head_lr,
  num_layers=num_layers,
  layer_decay=0.9,
  train_embeddings=false,
);

local fine_tuning(dataset, input, model, task, num_layers, num_epochs) =
  data.reading(dataset, input.reader) {
    model: model { text_field_embedder: input.text_field_embedder },
    data_loader: data_loader,
    trainer: {
      validation_metric: task.metric,
      grad_norm: 1.0,
    } + recipe(num_layers, num_epochs),
  };

{
  transformer: 'sentence-transformers/all-MiniLM-L6-v2',
  size: 384,
  num_layers: 6,
  recipe:: recipe,

  // Frozen. By default, a sentence is the mean of its word pieces; with `encoder`, a Seq2SeqEncoder
  // without its sizes, the words are read by it and max-pooled.
  frozen(
    dataset,
    transformer,
    size,
    task=tasks.labels,
    matcher='heuristic',
    encoder=null,
    num_epochs=12,
  ):
    local input =
      if encoder == null then transformers.word_pieces(transformer, train=false)
      else transformers.words(transformer, train=false);
    data.reading(dataset, input.reader) {
      model: task.siamese(matcher, { hidden_size: 512, dropout: 0.3 }) {
        text_field_embedder: input.text_field_embedder,
        encoder: if encoder == null then transformers.mean(size) else {
          type: 'pooled',
          encoder: { input_size: size, hidden_size: 150 } + encoder,
          pooling: 'max',
        },
      },
      data_loader: data_loader,
      trainer: {
        num_epochs: num_epochs,
        validation_metric: task.metric,
        optimizer: { type: 'adam', lr: 0.001 },
        learning_rate_scheduler: { type: 'cosine', t_initial: num_epochs },
      },
    },

  // Fine-tuned, with the mean of the word pieces. matcher: null for the cosine (scores only).
  fine_tuned(
    dataset,
    transformer,
    size,
    num_layers,
    task=tasks.labels,
    matcher='heuristic',
    num_epochs=4,
  ):
    local model =
      if matcher == null then task.cosine
      else task.siamese(matcher, { hidden_size: 512, batch_norm: false, dropout: 0.1 });
    fine_tuning(
      dataset,
      transformers.word_pieces(transformer, train=true),
      model { encoder: transformers.mean(size) },
      task,
      num_layers,
      num_epochs,
    ),

  // Fine-tuned, reading both sentences together.
  cross_encoder(dataset, transformer, num_layers, task=tasks.labels, num_epochs=4):
    fine_tuning(
      dataset,
      transformers.joined_pairs(transformer, train=true),
      task.cross_encoder,
      task,
      num_layers,
      num_epochs,
    ),
}
