"""The errors a user can meet; each message is one line that names the value and what would be right."""


class RuntwiceError(Exception):
    """Anything this package refuses; commands print its message and exit with 2."""


class ClaimError(RuntwiceError):
    """A claim's data or its declaration is wrong."""


class UnknownClaim(RuntwiceError):
    """No claim bears this id."""


class EvidenceError(RuntwiceError):
    """A test measured something no verdict can rest on; the claim's verdict is `error`."""


class LedgerError(RuntwiceError):
    """A ledger or journal that cannot be read."""


class ClusterError(RuntwiceError):
    """The cluster of `--cluster` cannot be used."""


class ReleaseError(RuntwiceError):
    """A package or release that the package index does not have, or an index that cannot be reached."""


class InstallError(RuntwiceError):
    """An environment that cannot be built."""


class BisectError(RuntwiceError):
    """Two ends between which there is nothing to find."""
