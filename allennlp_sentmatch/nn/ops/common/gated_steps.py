"""The arguments of a step of gated cells compiled from C++."""

from allennlp_sentmatch.nn.ops.common.native import Arguments, fields


class GatedStep(Arguments):
    """Those of an LSTM's, a CAS-LSTM's or a GRU's step, or of its derivative.

    native/_gated_steps.cpp describes the fields.
    """

    _fields_ = fields(
        "n block H x_step state_step recurrent_width num_after",
        "zeros x recurrent left lower left_weight lower_weight peephole hidden cell gates "
        "kept_left kept grad_hidden grad_cell carried grad_gates grad_recurrent grad_lower "
        "grad_left_weight",
    )
