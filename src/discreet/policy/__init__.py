"""What is asked of a release: roles, requirements, profile; as an object and as a file."""

from discreet.policy.file import dumps, load, loads, save
from discreet.policy.kpi import Kpi
from discreet.policy.policy import ColumnPolicy, Policy, Rating

__all__ = ["ColumnPolicy", "Kpi", "Policy", "Rating", "dumps", "load", "loads", "save"]
