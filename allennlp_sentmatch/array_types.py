"""The types of NumPy arrays, as annotations name them."""

from typing import Any

import numpy

Array = numpy.ndarray[Any, Any]
BoolArray = numpy.ndarray[Any, numpy.dtype[numpy.bool_]]
DoubleArray = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
FloatArray = numpy.ndarray[Any, numpy.dtype[numpy.float32]]
IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]
