"""HTTP responses are read whatever pieces they come in."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.serving.http_response import MAX_LINE_BYTES, HttpError, HttpResponse
from tests.implementations.serving.streams import head

BODIES = st.lists(st.binary(min_size=1, max_size=20), max_size=6)
CUTS = st.lists(st.integers(0, 400), max_size=10)


def read(pieces):
    response = HttpResponse()
    return response, b"".join(response.feed(piece) for piece in pieces)


def cut(data, places):
    bounds = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[low:high] for low, high in itertools.pairwise(bounds)]


def chunked(bodies, extension=b"", trailer=b""):
    chunks = (b"%x%s\r\n%s\r\n" % (len(body), extension, body) for body in bodies)
    return head(Transfer_Encoding="chunked") + b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"


@given(BODIES, CUTS, st.sampled_from([b"", b";name=value"]), st.sampled_from([b"", b"Expires: never\r\n"]))
def test_a_chunked_body_is_the_chunks_joined(bodies, places, extension, trailer):
    """However it is cut, with extensions and trailers."""
    response, body = read(cut(chunked(bodies, extension, trailer), places))
    assert (body, response.complete, response.status) == (b"".join(bodies), True, 200)


@given(st.binary(max_size=50), CUTS)
def test_a_body_of_stated_length_ends_there(body, places):
    """What follows it is not part of it."""
    sent = head("404 Not Found", Content_Length=len(body)) + body
    response, found = read([*cut(sent, places), b"more"])
    assert (found, response.complete, response.status) == (body, True, 404)


@given(st.binary(max_size=50), CUTS)
def test_a_body_without_length_lasts_as_long_as_the_connection(body, places):
    """It is never complete by itself."""
    response, found = read(cut(head() + body, places))
    assert (found, response.complete, response.ends_with_connection) == (body, False, True)


def test_a_body_comes_out_with_the_read_that_brought_it():
    """Nothing waits for the end of its chunk."""
    response = HttpResponse()
    assert response.feed(head(Transfer_Encoding="chunked") + b"a\r\n123") == b"123"
    assert response.feed(b"4567") == b"4567"


def test_an_interim_response_is_read_over():
    """The one that counts is the last."""
    response, body = read([b"HTTP/1.1 100 Continue\r\n\r\n" + head(Content_Length=2) + b"ok"])
    assert (response.status, body) == (200, b"ok")


def test_field_names_are_in_small_letters():
    """As HTTP does not tell their case apart."""
    response, _ = read([b"HTTP/1.1 200 OK\r\nX-One:  two \r\n\r\n"])
    assert response.headers == {"x-one": "two"}


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 abc\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 20\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "not a header field"),
        (head(Content_Length="many"), "content-length"),
        (head(Content_Length="-5"), "content-length"),
        (head(Transfer_Encoding="gzip, chunked") + b"0\r\n\r\n", "transfer-encoding"),
        (head(Transfer_Encoding="chunked") + b"xyz\r\n", "size"),
        (head(Transfer_Encoding="chunked") + b"-5\r\nabcdefgh", "size"),
        (head(Transfer_Encoding="chunked") + b"0x5\r\nabcde", "size"),
        (head(Transfer_Encoding="chunked") + b"+5\r\nabcde", "size"),
        (head(Transfer_Encoding="chunked") + b"1_0\r\nabcde", "size"),
        (head(Transfer_Encoding="chunked") + b"f" * 99 + b"\r\nabcde", "size"),
        (head(Transfer_Encoding="chunked") + b"1\r\nabc\r\n", "followed by"),
        (b"HTTP/1.1 200 OK\r\n" + b"x" * (MAX_LINE_BYTES + 1), "header of more"),
    ],
)
def test_what_is_not_http_is_refused(sent, message):
    """With what was found instead."""
    with pytest.raises(HttpError, match=message):
        read([sent])


def test_a_response_that_has_no_body_ends_with_its_header():
    """204 does not wait for the connection to end."""
    response, body = read([b"HTTP/1.1 204 No Content\r\n\r\n"])
    assert (response.complete, body) == (True, b"")
