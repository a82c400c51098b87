"""What compiled kernels need before the first of them is loaded, made by importing this: once, and not in every job."""

from __future__ import annotations

from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
