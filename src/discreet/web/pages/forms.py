"""What a form of the page has sent: its fields and its file."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile

from discreet.web.policies import LARGEST_POLICY
from discreet.web.refusals import not_found


async def filled_fields(request: Request) -> dict[str, Any]:
    """The filled fields of a form.

    A field called ``keep[]`` is a list, also if one value or none was chosen.
    """
    async with request.form() as form:
        return {
            key.removesuffix("[]"): [text for text in form.getlist(key) if text]
            if key.endswith("[]")
            else value
            for key, value in form.items()
            if value != "" or key.endswith("[]")
        }


async def field_lists(request: Request, most: int) -> dict[str, list[str]]:
    """All fields of a form, at most so many; a name can come several times."""
    async with request.form(max_files=0, max_fields=most) as form:
        return {
            key.removesuffix("[]"): [text for text in form.getlist(key) if isinstance(text, str)]
            for key in form
        }


async def sent_file(request: Request, field: str) -> bytes:
    """The file of a form, as far as one more byte than may be taken."""
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get(field)
        if not isinstance(file, UploadFile):
            raise not_found("file")
        return await file.read(LARGEST_POLICY + 1)
