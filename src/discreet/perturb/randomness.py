"""Random numbers for perturbation: a stream that follows from a key, which is secret unless somebody gives a seed."""

from __future__ import annotations

import hashlib
import itertools
import secrets

import numpy as np

from discreet.types import FloatArray, IntArray


class Randomness:
    """Draws from SHAKE-256 of a key: who sees some of them cannot tell the others without the key.

    Without a ``seed`` the key comes from the operating system and is forgotten. With one everything can be repeated, and
    undone by whoever knows it.

    >>> Randomness(7).uniform(2).tolist() == Randomness(7).uniform(2).tolist()
    True
    >>> Randomness().uniform(2).tolist() == Randomness().uniform(2).tolist()
    False
    """

    def __init__(self, seed: int | None = None) -> None:
        self._key = secrets.token_bytes(32) if seed is None else f"discreet perturb {seed}".encode()
        self._calls = itertools.count()

    def words(self, size: int) -> IntArray:
        """Whole numbers from 0 to 2^63 - 1."""
        block = hashlib.shake_256(self._key + next(self._calls).to_bytes(8, "big"))
        return (np.frombuffer(block.digest(8 * size), dtype=np.uint64) >> np.uint64(1)).astype(np.int64)

    def secret(self, purpose: str) -> bytes:
        """A key of its own for a purpose: the same wherever the seed is the same, whatever was drawn before.

        >>> Randomness(7).secret("names") == Randomness(7).secret("names") != Randomness(7).secret("towns")
        True
        """
        return hashlib.shake_256(self._key + f"secret for {purpose}".encode()).digest(32)

    def uniform(self, size: int) -> FloatArray:
        """Numbers strictly between 0 and 1."""
        return np.asarray(((self.words(size) >> 11) + 0.5) / 2.0**52, dtype=np.float64)

    def normal(self, size: int) -> FloatArray:
        """Numbers with mean 0 and standard deviation 1."""
        from scipy.special import (
            ndtri,
        )  # takes as long to load as a third of the program: only when there is noise

        return np.asarray(ndtri(self.uniform(size)))

    def laplace(self, size: int) -> FloatArray:
        """Numbers by Laplace's distribution with mean 0 and standard deviation 1."""
        centred = self.uniform(size) - 0.5
        return np.asarray(-np.sign(centred) * np.log1p(-2.0 * np.abs(centred)) / np.sqrt(2.0))

    def flat(self, size: int) -> FloatArray:
        """Numbers by the uniform distribution with mean 0 and standard deviation 1."""
        return np.asarray((self.uniform(size) - 0.5) * np.sqrt(12.0))

    def below(self, bound: int, size: int) -> IntArray:
        """Whole numbers from 0 to ``bound`` - 1."""
        return np.minimum((self.uniform(size) * bound).astype(np.int64), bound - 1)

    def permutation(self, size: int) -> IntArray:
        """The numbers from 0 to ``size`` - 1 in a random order."""
        return np.argsort(self.words(size), kind="stable")
