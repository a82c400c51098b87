"""The register of releases: what was published when, and what is needed to judge the next release with the earlier ones."""

from discreet.register.certificate import ReleaseCertificate as ReleaseCertificate
from discreet.register.folder import Register as Register
from discreet.register.judging import Judgement as Judgement
