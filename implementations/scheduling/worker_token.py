"""A token that worker and submitter share: what is not signed with it is not believed.

Follows: RFC 2104 (HMAC) with SHA-256 over JSON with sorted keys. The token itself never travels, so it is in no
heartbeat, no job and no log.
Leaves out: replayed messages (a beat carries its time, a job its id); who may reach the scheduler's port at all, which
is for the network or for Dask's own TLS to say.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

SIGNATURE = "signature"


class WrongToken(PermissionError):
    """A record was signed with another token, or with none."""


def signed(token: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its signature."""
    plain = {key: value for key, value in record.items() if key != SIGNATURE}
    return {**plain, SIGNATURE: _signature(token, plain)}


def verified(token: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without its signature.

    Raises:
        WrongToken: it has none, or one that this token does not give.
    """
    if not isinstance(record, Mapping):
        raise WrongToken(f"not a signed record, but {type(record).__name__}")
    plain = {key: value for key, value in record.items() if key != SIGNATURE}
    given = record.get(SIGNATURE)
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), _signature(token, plain).encode()):
        raise WrongToken("not signed with the token of this cluster")
    return plain


def _signature(token: str, record: Mapping[str, Any]) -> str:
    # Through JSON first: what the other side signs has been through it as well.
    text = json.dumps(json.loads(json.dumps(record)), sort_keys=True)
    return hmac.new(token.encode(), text.encode(), hashlib.sha256).hexdigest()
