"""`Seq2SeqEncoder`s: `cas_lstm`, `subilstm`, `rcrn`, `lstmn`, `stacked_rnn`, `highway` and
`sequential`.
"""

from allennlp_sentmatch.modules.seq2seq_encoders.cas_lstm_encoder import (
    CasLstmEncoder as CasLstmEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.highway_encoder import (
    HighwayEncoder as HighwayEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.lstmn_encoder import LstmnEncoder as LstmnEncoder
from allennlp_sentmatch.modules.seq2seq_encoders.rcrn_encoder import RcrnEncoder as RcrnEncoder
from allennlp_sentmatch.modules.seq2seq_encoders.sequential_encoder import (
    SequentialEncoder as SequentialEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.stacked_rnn_encoder import (
    StackedRnnEncoder as StackedRnnEncoder,
)
from allennlp_sentmatch.modules.seq2seq_encoders.subilstm_encoder import (
    SubilstmEncoder as SubilstmEncoder,
)
