"""The real `openai` package talks to the server."""

import time

import pytest

from tests.implementations.serving.conftest import letters_after

openai = pytest.importorskip("openai")


@pytest.fixture
def client(shared):
    with openai.OpenAI(base_url=f"{shared}/v1", api_key="none", max_retries=0, timeout=60) as found:
        yield found


def client_of(address):
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=60)


def test_models(client):
    """The list has one, and it can be asked for by name."""
    (model,) = client.models.list()
    assert client.models.retrieve(model.id) == model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


def test_completion(client):
    """Text, finish reason and usage as the package's own types."""
    found = client.completions.create(model="runtwice", prompt="a", max_tokens=5, temperature=0)
    assert (found.choices[0].text, found.choices[0].finish_reason) == ("bcdef", "length")
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.total_tokens) == (1, 5, 6)


def test_streamed_completion(client):
    """Chunks in order, one usage chunk at the end."""
    chunks = list(
        client.completions.create(
            model="runtwice", prompt="x", max_tokens=5, stream=True, stream_options={"include_usage": True}
        )
    )
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == letters_after("x", 5)
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]][-1] == "length"
    assert not chunks[-1].choices
    assert chunks[-1].usage.completion_tokens == 5
    assert {chunk.usage for chunk in chunks[:-1]} == {None}


def test_chat(client):
    """An answer in one piece, with the assistant's role."""
    found = client.chat.completions.create(
        model="runtwice", messages=[{"role": "user", "content": "hi"}], max_completion_tokens=4
    )
    assert found.choices[0].message.role == "assistant"
    assert len(found.choices[0].message.content) == found.usage.completion_tokens == 4


def test_streamed_chat(client):
    """The first delta bears the role, the others content."""
    chunks = list(
        client.chat.completions.create(
            model="runtwice", messages=[{"role": "user", "content": "hi"}], max_tokens=4, stream=True
        )
    )
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert deltas[0].role == "assistant"
    assert len("".join(delta.content for delta in deltas)) == 4
    assert chunks[-1].choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"prompt": "a" * 600}, "BadRequestError", "context length is 512"),
        ({"prompt": "a", "max_tokens": 0}, "BadRequestError", "at least 1"),
        ({"prompt": "a", "n": 2}, "BadRequestError", "not supported"),
        ({"prompt": "a", "model": "other"}, "NotFoundError", "does not exist"),
        ({"prompt": "a" * 600, "stream": True}, "BadRequestError", "context length is 512"),
    ],
)
def test_refusals_are_the_packages_own_errors(client, options, error, message):
    """By status, with the server's message; a stream is refused before it begins."""
    with pytest.raises(getattr(openai, error), match=message) as caught:
        client.completions.create(**{"model": "runtwice", **options})
    assert caught.value.body["type"] == "invalid_request_error"


def test_an_error_in_the_stream_is_raised_by_the_package(serve, alphabet):
    """Row 12: after the tokens that were made."""
    with serve(alphabet(fails_after=2)) as (address, _), client_of(address) as client:
        received = []
        stream = client.completions.create(model="runtwice", prompt="a", max_tokens=9, stream=True)
        with pytest.raises(openai.APIError, match="fallen over"):
            received.extend(chunk.choices[0].text for chunk in stream)
    assert "".join(received) == "bc"


def test_a_fault_of_the_engine_before_the_stream(serve, alphabet):
    """An HTTP error of the server's kind."""
    with serve(alphabet(fails_after=0)) as (address, _), client_of(address) as client:
        with pytest.raises(openai.InternalServerError, match="fallen over"):
            client.completions.create(model="runtwice", prompt="a", stream=True)


def test_leaving_a_stream_early_ends_the_request(serve, alphabet):
    """Row 55: the package closes the connection, and the pool is whole again."""
    with serve(alphabet(step_s=0.005), max_model_len=1024) as (address, desk), client_of(address) as client:
        with client.completions.create(model="runtwice", prompt="a", max_tokens=900, stream=True) as stream:
            next(iter(stream))
        deadline_s = time.monotonic() + 60
        while desk.engine.load.free_blocks < desk.engine.load.blocks and time.monotonic() < deadline_s:
            time.sleep(0.005)
        assert desk.engine.load.free_blocks == desk.engine.load.blocks
        assert desk.engine.load.steps < 900
