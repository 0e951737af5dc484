"""Fast implementations of recurrences that the encoders of `allennlp_sentmatch.nn` spell out.

All are made of torch's operations. What is element-wise in a step, or a whole recurrence of such
steps, is besides a single pass where that can be had: compiled from C++ for CPUs (the modules that
end in `_compiled`, if there was a compiler when the package was installed) and in Triton for CUDA
(those that end in `_triton`).
"""
