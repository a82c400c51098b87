"""What jobs would each compile or look up anew, made by importing this: templates, and what kernels need."""

from __future__ import annotations

from discreet.compiled import compiles_at_calls
from discreet.reports.html import compile_templates

if compiles_at_calls():
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
compile_templates()
