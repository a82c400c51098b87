"""What jobs would each compile or look up anew, made by importing this: templates, and what kernels need."""

from __future__ import annotations

from numba.core.registry import cpu_target

from discreet.reports.html import compile_templates

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
compile_templates()
