"""The types of arrays, of progress and of shapes, declared once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Int32Array = NDArray[np.int32]
AnyIntArray = NDArray[np.integer]
CodeArray = NDArray[np.unsignedinteger]
"""Codes of a domain, in the narrowest type that holds them."""
IntMatrix = Annotated[NDArray[np.int64], 2]
Int32Matrix = Annotated[NDArray[np.int32], 2]
FloatMatrix = Annotated[NDArray[np.float64], 2]
WordMatrix = Annotated[NDArray[np.uint64], 2]
"""Arrays of two dimensions: compiled loops are made for one number of them."""

Progress = Callable[[str], None]
"""Takes one line that says what is being done."""

Shape = Literal["uniform", "nested", "free"]
"""How the labels of a column relate: one grouping, disjoint or inside each other, or ranges that may overlap."""
