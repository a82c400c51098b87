"""Whether a file tells a word."""

from __future__ import annotations

import re


def tells(content: bytes, text: object) -> bool:
    """Whether a text stands in a file as a word of its own, in small or capital letters; among bytes, as it is written.

    Three letters in a row turn up by chance where hashes, checksums and sealed values are.
    """
    word = rb"(?<![0-9A-Za-z])" + re.escape(str(text).encode()) + rb"(?![0-9A-Za-z])"
    try:
        content.decode()
    except UnicodeDecodeError:
        return re.search(word, content) is not None
    return re.search(word, content, re.IGNORECASE) is not None
