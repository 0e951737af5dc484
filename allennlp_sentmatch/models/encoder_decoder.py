"""Translation with a recurrent encoder and an attentional decoder."""

from typing import Any, Optional

import torch
import torch.nn.functional as F
from allennlp.common import Lazy
from allennlp.common.util import END_SYMBOL
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.modules import Attention, Seq2SeqEncoder, TextFieldEmbedder
from allennlp.modules.attention import BilinearAttention
from allennlp.modules.token_embedders import Embedding
from allennlp.nn.beam_search import BeamSearch, StateType
from allennlp.nn.util import get_text_field_mask, get_token_ids_from_text_field_tensors
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel, embed
from allennlp_sentmatch.modules import StepDecoder
from allennlp_sentmatch.modules.encoder_states import encode_with_states, num_layers_with_states
from allennlp_sentmatch.modules.generation import OutputWords
from allennlp_sentmatch.modules.parts import check_fit, dropout_layer
from allennlp_sentmatch.training.metrics import SacreBleu


@Model.register("encoder_decoder")
class EncoderDecoder(TextModel):
    """Translates sentences with a recurrent encoder, attention and a recurrent decoder.

    The model of CAS-LSTM's section 4.4 ([Choi et al. 2019](https://arxiv.org/abs/1809.02279)) and
    of the thesis's section 4.4.4: encoder and decoder are plain or cell-aware LSTMs. The equations
    are in `allennlp_sentmatch.nn.attentional_decoder`; `StateBridge` leads from the encoder's last
    states to the decoder's first ones. The reader is "parallel_text".

    # Parameters

    source_embedder : `TextFieldEmbedder`
    encoder : `Seq2SeqEncoder`
        AllenNLP's "lstm" and this package's "cas_lstm" and "stacked_rnn" (of LSTMs) pass on the
        states of all of their layers, if the decoder has as many; other encoders pass on their last
        output.
    target_embedder : `Embedding`
    decoder : `Lazy[StepDecoder]`
        The recurrent layers; the model fills in `input_size`.
    attention : `Lazy[Attention]`, optional (default = `Lazy(BilinearAttention)`)
        The model fills in `vector_dim` and `matrix_dim`.
    output_size : `int`, optional (default = the size of the target embeddings)
        The width of the attentional vectors.
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the attentional vectors.
    embedding_dropout : `float`, optional (default = `0.0`)
        The dropout probability of the source's and the target's embeddings.
    input_feeding : `bool`, optional (default = `True`)
        Whether a step reads the attentional vector of the step before.
    label_smoothing : `float`, optional (default = `0.0`)
        The share of the target's probability that is spread over the vocabulary.
    beam_search : `Lazy[BeamSearch]`, optional (default = AllenNLP's, with 10 beams)
        Used in evaluation and prediction; `{"beam_size": 1}` is greedy decoding.
    target_tokenizer : `Tokenizer`, optional (default = `None`)
        The reader's tokenizer. Its `detokenize` turns tokens into text for BLEU and predictions;
        without it, tokens are joined by spaces.
    bleu : `SacreBleu`, optional (default = `SacreBleu()`)
        The metric, also an attribute; `{"lowercase": true}` for a model without capital letters.
    target_namespace : `str`, optional (default = `"target_tokens"`)
    settings : see `TextModel`
    """

    default_predictor = "translation"
    gold_field = "target_tokens"

    @inherits_settings(TextModel)
    def __init__(
        self,
        vocab: Vocabulary,
        source_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        target_embedder: Embedding,
        decoder: Lazy[StepDecoder],
        attention: Lazy[Attention] = Lazy(BilinearAttention),  # noqa: B008
        output_size: Optional[int] = None,
        dropout: float = 0.0,
        embedding_dropout: float = 0.0,
        input_feeding: bool = True,
        label_smoothing: float = 0.0,
        beam_search: Lazy[BeamSearch] = Lazy(BeamSearch),  # noqa: B008
        target_tokenizer: Optional[Tokenizer] = None,
        bleu: Optional[SacreBleu] = None,
        target_namespace: str = "target_tokens",
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        check_fit(source_embedder=source_embedder, encoder=encoder)
        self._words = OutputWords(
            vocab,
            target_namespace,
            ": target_namespace must be the one of the reader's target_token_indexers",
        )
        self._source_embedder = source_embedder
        self._encoder = encoder
        self._target_embedder = target_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        embedding_size = target_embedder.get_output_dim()
        encoder_size = encoder.get_output_dim()
        output_size = embedding_size if output_size is None else output_size
        nn.check_positive(output_size=output_size)
        nn.check_fraction(dropout=dropout, label_smoothing=label_smoothing)
        input_size = embedding_size
        if input_feeding:
            input_size += output_size
        layers = decoder.construct(input_size=input_size).module
        self._bridge = nn.StateBridge(
            encoder_size,
            layers.hidden_size,
            layers.num_layers,
            has_states=num_layers_with_states(encoder) == layers.num_layers,
        )
        self._decoder = nn.AttentionalDecoder(
            layers,
            attention.construct(vector_dim=layers.hidden_size, matrix_dim=encoder_size),
            encoder_size,
            output_size,
            dropout,
            input_feeding,
        )
        num_words = vocab.get_vocab_size(target_namespace)
        self.output_sizes[target_namespace] = num_words
        self._output_layer = torch.nn.Linear(output_size, num_words)
        self._label_smoothing = label_smoothing
        self._beam_search = beam_search.construct(end_index=self._words.end, vocab=vocab)
        self._target_tokenizer = target_tokenizer
        self.bleu = bleu or SacreBleu()
        self._initializer(self)

    def forward(
        self,
        source_tokens: TextFieldTensors,
        metadata: Metadata,
        target_tokens: Optional[TextFieldTensors] = None,
    ) -> Output:
        """Compute the loss of the references and, outside of training, translate.

        `metadata` is as the reader makes it; `target_tokens` are the references with both symbols.

        # Returns

        - `loss`: with `target_tokens`, the mean cross-entropy of their tokens;
        - `predictions` (B, K, T): outside of training, the indices of K translations, the best
          first, each ended and padded by the end symbol;
        - `scores` (B, K): their scores;
        - `attention` (B, T, S): the weights of the source's tokens at each step of the best
          translation;
        - `metadata`.
        """
        encoder_outputs, source_mask, state = self._read_source(source_tokens)
        output: Output = {"metadata": metadata}
        if target_tokens is not None:
            indices = get_token_ids_from_text_field_tensors(target_tokens)  # (B, T + 1)
            words = get_text_field_mask(target_tokens)[:, 1:].nonzero(as_tuple=True)
            attentional, _ = self._read(indices[:, :-1], state, encoder_outputs, source_mask)
            output["loss"] = F.cross_entropy(
                self._output_layer(attentional[words]),  # (number of tokens, V)
                indices[:, 1:][words],
                label_smoothing=self._label_smoothing,
            )
        if self.training:
            return output
        predictions, scores = self._translate(state, encoder_outputs, source_mask)
        start = predictions.new_full((len(predictions), 1), self._words.start)
        best = torch.cat([start, predictions[:, 0, :-1]], 1)  # (B, T)
        _, attention = self._read(best, state, encoder_outputs, source_mask)
        output.update(predictions=predictions, scores=scores, attention=attention)
        if target_tokens is not None:
            translations = [self._text(one) for one in predictions[:, 0].tolist()]
            self.bleu(translations, [pair["target"] for pair in metadata])
        return output

    def make_output_human_readable(self, output_dict: Output) -> Output:
        """Replace tensors by texts.

        Return for each sentence `source`, `source_tokens`, `target` (the best translation),
        `target_tokens` with the end symbol if it was reached, `score`, `n_best` (a list of `target`
        and `score`, best first), and `attention`: for each of `target_tokens` the weights of
        `source_tokens`. The scores are those by which the beam search ranks.
        """
        metadata = output_dict["metadata"]
        predictions = output_dict["predictions"]  # (B, K, T)
        n_best = [
            [{"target": self._text(beam), "score": score} for beam, score in zip(beams, scores)]
            for beams, scores in zip(predictions.tolist(), output_dict["scores"].tolist())
        ]
        sources = [pair["source_tokens"] for pair in metadata]
        best = [self._words.sentence(beam) for beam in predictions[:, 0].tolist()]
        targets = [[*words, END_SYMBOL][: predictions.size(2)] for words in best]
        attention = [
            weights[: len(target), : len(source)].tolist()
            for weights, target, source in zip(output_dict["attention"], targets, sources)
        ]
        return {
            "source": [pair["source"] for pair in metadata],
            "source_tokens": sources,
            "n_best": n_best,
            "target": [beams[0]["target"] for beams in n_best],
            "score": [beams[0]["score"] for beams in n_best],
            "target_tokens": targets,
            "attention": attention,
        }

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return the corpus-level `BLEU` of detokenized translations, in evaluation only."""
        if self.training:
            self.bleu.load_library()
            return {}
        return self.bleu.get_metric(reset)

    def _read_source(self, tokens: TextFieldTensors) -> tuple[Tensor, Tensor, nn.AttentionalState]:
        """Return the encoder's outputs (B, S, E), the mask (B, S) and the decoder's first state."""
        mask = get_text_field_mask(tokens)
        embedded = self._embedding_dropout(embed(self._source_embedder, tokens))
        outputs, last_output, states = encode_with_states(self._encoder, embedded, mask)
        layers = self._bridge(last_output, states)
        return outputs, mask, self._decoder.initial_state(layers)

    def _read(
        self,
        indices: Tensor,
        state: nn.AttentionalState,
        encoder_outputs: Tensor,
        source_mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return the attentional vectors (B, T, A) and attention (B, T, S) of tokens (B, T)."""
        embedded = self._embedding_dropout(self._target_embedder(indices))
        attentional, attention = self._decoder(embedded, state, encoder_outputs, source_mask)
        return attentional, attention

    def _translate(
        self, state: nn.AttentionalState, encoder_outputs: Tensor, source_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the indices (B, K, T) and the scores (B, K) of the best translations."""

        def step(last_tokens: Tensor, state: StateType) -> tuple[Tensor, StateType]:
            layers = nn.DecoderState(state["hidden"], state["cell"])
            _, after = self._decoder.step(
                self._target_embedder(last_tokens),
                nn.AttentionalState(layers, state["attentional"]),
                state["encoder_outputs"],
                state["source_mask"],
            )
            new = {**after.layers._asdict(), "attentional": after.attentional}
            return self._output_layer(after.attentional), {**state, **new}

        initial = {
            **state.layers._asdict(),
            "attentional": state.attentional,
            "encoder_outputs": encoder_outputs,
            "source_mask": source_mask,
        }
        return self._words.search(self._beam_search, step, initial)

    def _text(self, indices: list[int]) -> str:
        """Return the text of a translation's indices."""
        words = self._words.sentence(indices)
        detokenize: Any = getattr(self._target_tokenizer, "detokenize", " ".join)
        return str(detokenize(words))
