"""Files that are written whole or not at all, and take the place of nothing that is read."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.addresses import DatabaseAddress
from discreet.files.members import members, would_fit
from discreet.sentences import Sentence

PART = re.compile(r"\.discreet-[0-9a-f]{16}\.part(\..*)?", re.DOTALL)
"""What a file is called until it is complete."""
UNFINISHED: set[Path] = set()
"""The files that this process is writing, under the names that they have until they are complete."""
SYSTEM = 0
"""The user whose links everybody follows."""


def atomically(
    target: Path,
    write: Callable[[Path], object],
    verify: Callable[[Path], object] | None = None,
    *,
    private: bool = False,
) -> None:
    """Write beside the target, verify what was written, and only then put it in place.

    Whatever happens in between, the target is either as it was or complete and verified. Nobody else writes to the
    same name meanwhile, and what a process that was killed left in this folder is removed. A ``private`` file is
    readable and writable by its owner alone, whatever stood there before.
    """
    try:
        place = destination(target)
        with _begun(place, private=private) as part:
            write(part.path)
            os.fsync(part.handle)
            if verify is not None:
                verify(part.path)
            part.complete()
            os.replace(part.path, place)
    except OSError as error:
        raise unwritable(target.name, error) from None


def pair_atomically(
    first: Path, second: Path, write: Callable[[Path, Path], object], verify: Callable[[Path, Path], object]
) -> None:
    """Write two files that belong together, verify both, and only then put them in place.

    Whatever happens in between, there are never two files that do not belong together: an old ``first`` is taken away
    before the ``second`` is exchanged, and comes back if that fails. Only a kill between the two leaves the second alone.
    """
    try:
        places = destination(first), destination(second)
        with _begun(places[0]) as begun, _begun(places[1]) as beside:
            parts = begun, beside
            write(parts[0].path, parts[1].path)
            for part in parts:
                os.fsync(part.handle)
            verify(parts[0].path, parts[1].path)
            for part in parts:
                part.complete()
            aside = begun.path.with_name(_part_name(places[0].suffix))
            UNFINISHED.add(aside)
            try:
                with suppress(FileNotFoundError):
                    os.replace(places[0], aside)
                os.replace(beside.path, places[1])
            except OSError:
                with suppress(FileNotFoundError):
                    os.replace(aside, places[0])
                raise
            finally:
                aside.unlink(missing_ok=True)
                UNFINISHED.discard(aside)
            os.replace(begun.path, places[0])
    except OSError as error:
        raise unwritable(f"{first.name} or {second.name}", error) from None


@dataclass(frozen=True)
class _Part:
    """A file that is being written for a place, and the handle whose lock says that it is in use."""

    path: Path
    handle: int
    place: Path
    private: bool

    def complete(self) -> None:
        """Make sure that it is still the same file, and give it the rights of the one that it replaces."""
        if not os.path.samestat(os.fstat(self.handle), os.lstat(self.path)):
            raise OSError(errno.EBUSY, "somebody else replaced it")
        if self.place.exists() and not self.private:
            self.path.chmod(stat.S_IMODE(self.place.stat().st_mode))


@contextmanager
def _begun(place: Path, *, private: bool = False) -> Iterator[_Part]:
    """A new file beside a place, which is gone in the end unless it was put there."""
    remove_parts(place.parent)
    path, handle = _new_part(place, 0o600 if private else 0o666)
    try:
        yield _Part(path, handle, place, private)
    finally:
        path.unlink(missing_ok=True)
        UNFINISHED.discard(path)
        os.close(handle)


def refuse_filled_folder(target: Path) -> None:
    """Refuse a folder that is no new one, before work is done for it: it must not be there, or be empty."""
    if os.path.isfile(target) or (os.path.isdir(target) and any(target.iterdir())):
        raise InvalidParameter(
            Sentence("{name} is there and not empty", name=target.name), remedy="name a new folder"
        )
    if not os.path.isdir(target.absolute().parent):
        raise UnreadableInput(
            Sentence("there is no folder for {name}", name=target.name), remedy="create it first"
        )


def folder_atomically(
    target: Path, write: Callable[[Path], object], verify: Callable[[Path], object]
) -> None:
    """Fill a folder beside the target, verify what is in it, and only then give it its name.

    The target is a new folder or an empty one; whatever happens in between, it is as it was, or complete and verified.
    """
    try:
        remove_parts(target.parent)
        part, handle = _new_folder(target)
        try:
            write(part)
            for file in part.iterdir():
                # Others may have written it; only Windows asks for the right to write.
                with file.open("rb+" if sys.platform == "win32" else "rb") as written:
                    os.fsync(written)
            verify(part)
            os.rename(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            UNFINISHED.discard(part)
            if handle is not None:
                os.close(handle)
    except OSError as error:
        raise unwritable(target.name, error) from None


def unwritable(name: str, error: OSError) -> UnreadableInput:
    """What to say where a file could not be written."""
    return UnreadableInput(
        Sentence(
            "{name} could not be written ({strerror})",
            name=name,
            strerror=error.strerror or type(error).__name__,
        ),
        remedy="check the folder, its permissions and the space left",
    )


def parts_folder(target: Path) -> Path | None:
    """The folder whose files are the target, where it is called so.

    >>> parts_folder(Path("people/*.parquet")), parts_folder(Path("people.parquet"))
    (PosixPath('people'), None)
    """
    return target.parent if target.stem == "*" else None


def write_text(target: Path, text: str) -> Path:
    """Write a text file; a crash leaves the old file or the new one, never half of one."""
    atomically(target, lambda part: part.write_text(text, encoding="utf-8"))
    return target


def destination(target: Path) -> Path:
    """Where a file is written: a link of one's own is followed, so that it stays a link.

    Somebody else's link, in a folder that many may write to, could lead to any file of this user's.
    """
    if not target.is_symlink():
        place = target
    elif sys.platform != "win32" and target.lstat().st_uid not in (os.getuid(), SYSTEM):
        raise UnreadableInput(
            Sentence("{name} is a link of another user's", name=target.name), remedy="name another file"
        )
    else:
        try:
            place = target.resolve()
        except RuntimeError:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    if place.exists() and not place.is_file():
        name = target.name or str(target)
        raise UnreadableInput(
            Sentence("{name} is a folder", name=name)
            if place.is_dir()
            else Sentence("{name} is not a regular file", name=name),
            remedy="name a file",
        )
    return place


def refuse_no_place(target: Path) -> None:
    """Refuse a file that could not be put where it is named, before work is done or anything beside it is written."""
    if not os.path.isdir(target.absolute().parent):
        raise UnreadableInput(
            Sentence("there is no folder for {name}", name=target.name), remedy="create it first"
        )
    try:
        destination(target)
    except OSError as error:
        raise unwritable(target.name, error) from None


def refuse_clashes(
    outputs: Iterable[Path | None], inputs: Iterable[Path | DatabaseAddress | None] = ()
) -> None:
    """Raise if a file to be written is one that is read, or lies in a folder that is, or fits a pattern that is, or is to be
    written twice, under whatever name.

    >>> refuse_clashes([Path("a.csv"), Path("./a.csv")])
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: a.csv is to be written twice; name another file
    """
    given = [path for path in inputs if path is not None]
    patterns = [path for path in given if isinstance(path, Path)]
    read = [file for path in given for file in _files_of(path)]
    written: list[Path] = []
    for target in filter(None, outputs):
        if any(same_file(target, path) for path in read):
            raise InvalidParameter(
                Sentence("{name} is a file that is read, and would be overwritten", name=target.name),
                remedy="name another file",
            )
        if folder := next(
            (path for path in read if os.path.isdir(path) and same_file(target.parent, path)), None
        ):
            raise InvalidParameter(
                Sentence(
                    "{name} would lie in the folder {folder}, which is read",
                    name=target.name,
                    folder=folder.name,
                ),
                remedy="name a file elsewhere",
            )
        if any(would_fit(target, pattern) for pattern in patterns):
            raise InvalidParameter(
                Sentence("{name} would be one of the files that are read next time", name=target.name),
                remedy="name a file that the pattern of what is read does not fit",
            )
        if any(same_file(target, other) for other in written):
            raise InvalidParameter(
                Sentence("{name} is to be written twice", name=target.name), remedy="name another file"
            )
        written.append(target)


def _files_of(path: Path | DatabaseAddress) -> tuple[Path, ...]:
    if isinstance(path, DatabaseAddress):
        return () if path.file is None else (path.file,)
    several = members(path)
    return (path,) if several is None else several.files


def same_file(left: Path, right: Path) -> bool:
    """Whether two paths lead to one file, which need not exist yet."""
    with suppress(OSError, ValueError):
        return os.path.samefile(left, right)
    # One of them is not there; what no file can be called is nothing at all.
    with suppress(ValueError):
        return os.path.realpath(left) == os.path.realpath(right)
    return False


def _part_name(suffix: str = "") -> str:
    """What a file is called until it is complete."""
    return f".discreet-{secrets.token_hex(8)}.part{suffix}"


def _new_part(place: Path, mode: int) -> tuple[Path, int]:
    """A new file beside the place, and the handle whose lock says that it is in use."""
    while True:
        part = place.with_name(_part_name(place.suffix))
        UNFINISHED.add(part)
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
        if _is_ours(handle):
            return part, handle
        UNFINISHED.discard(part)
        os.close(handle)


def _new_folder(target: Path) -> tuple[Path, int | None]:
    """A new folder beside the target, and the handle whose lock says that it is in use, where folders have one."""
    while True:
        part = target.with_name(_part_name())
        UNFINISHED.add(part)
        part.mkdir()
        if sys.platform == "win32":
            return part, None
        with suppress(FileNotFoundError):
            handle = os.open(part, os.O_RDONLY)
            if _is_ours(handle):
                return part, handle
            os.close(handle)
        UNFINISHED.discard(part)


def _is_ours(handle: int) -> bool:
    """Lock what was just made, unless somebody who removes leftovers came between the two."""
    try:
        _lock(handle)
        return bool(os.fstat(handle).st_nlink)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks, or without those of folders, on which leftovers stay.
        return True


def remove_parts(folder: Path) -> None:
    """Remove what processes of this user that were killed left in a folder."""
    if sys.platform == "win32":
        return
    with os.scandir(folder) as entries:
        parts = [entry.path for entry in entries if PART.fullmatch(entry.name)]
    for part in parts:
        folder_of_parts = os.path.isdir(part)
        try:
            how = os.O_RDONLY if folder_of_parts else os.O_RDWR
            handle = os.open(part, how | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            state = os.fstat(handle)
            if state.st_uid != os.getuid():
                continue
            if stat.S_ISREG(state.st_mode):
                _lock(handle)
                os.unlink(part)
            elif stat.S_ISDIR(state.st_mode):
                _lock(handle)
                shutil.rmtree(part, ignore_errors=True)
        except OSError:
            # Still in use, or already gone.
            continue
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    """Take the lock of a file; an ``OSError`` if somebody has it."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
