"""`Seq2SeqEncoder`s: `cas_lstm`, `subilstm`, `rcrn`, `lstmn`, `stacked_rnn`, `highway` and
`sequential`.
"""

from allennlp_sentmatch.modules.seq2seq_encoders.cas_lstm import (
    CasLstmEncoder as CasLstmEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.highway import (
    HighwayEncoder as HighwayEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.lstmn import LstmnEncoder as LstmnEncoder
from allennlp_sentmatch.modules.seq2seq_encoders.rcrn import RcrnEncoder as RcrnEncoder
from allennlp_sentmatch.modules.seq2seq_encoders.sequential import (
    SequentialEncoder as SequentialEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.stacked_rnn import (
    StackedRnnEncoder as StackedRnnEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.subilstm import (
    SubilstmEncoder as SubilstmEncoder,
)
