"""`Seq2VecEncoder`s: `gumbel_tree_lstm` and `pooled`."""

from allennlp_sentmatch.modules.seq2vec_encoders.gumbel_tree_lstm import (
    GumbelTreeLstmEncoder as GumbelTreeLstmEncoder,
)
from allennlp_sentmatch.modules.seq2vec_encoders.pooled import (
    PooledEncoder as PooledEncoder,
)
