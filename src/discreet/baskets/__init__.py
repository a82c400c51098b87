"""Baskets: sets of items (purchases, diagnoses, pages read), one per person or visit, and releases of them."""

from discreet.baskets.baskets import Baskets as Baskets
