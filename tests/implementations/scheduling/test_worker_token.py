import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.scheduling.worker_token import WrongToken, signed, verified

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.text(max_size=3).filter(lambda key: key != "signature"), PLAIN, max_size=4)


@given(RECORDS, st.text())
def test_what_was_signed_is_believed(record, token):
    """And comes back without its signature."""
    assert verified(token, signed(token, record)) == record


@given(RECORDS, st.text(), st.text())
def test_another_token_is_not(record, token, other):
    """Nor is none."""
    if token != other:
        with pytest.raises(WrongToken, match="not signed with the token"):
            verified(token, signed(other, record))
    with pytest.raises(WrongToken):
        verified(token, record)


@given(RECORDS, RECORDS)
def test_a_changed_record_is_not(record, other):
    """The signature is one of the whole content."""
    if json.dumps(record, sort_keys=True) != json.dumps(other, sort_keys=True):
        with pytest.raises(WrongToken):
            verified("token", {**other, "signature": signed("token", record)["signature"]})


@pytest.mark.parametrize("signature", [None, 5, "", "é", b"bytes"])
def test_a_signature_of_any_kind_is_only_refused(signature):
    """It ends in no other error."""
    with pytest.raises(WrongToken):
        verified("token", {"a": 1, "signature": signature})


def test_the_signature_is_hmac_of_sorted_json():
    """An outside computation from the definition; lists and tuples are one to JSON."""
    expected = hmac.new(b"token", b'{"a": [1, 2], "b": "x"}', hashlib.sha256).hexdigest()
    assert signed("token", {"b": "x", "a": (1, 2)})["signature"] == expected


def test_the_token_is_not_in_what_it_signed():
    """Neither in clear nor otherwise."""
    assert "secret" not in str(signed("secret", {"a": 1}))
