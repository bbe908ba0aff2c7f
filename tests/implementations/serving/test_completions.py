"""What may be asked is read, what cannot be served is refused by name."""

import json

import pytest

from implementations.serving.completions import DEFAULT_MAX_TOKENS, Answer, read_request
from implementations.serving.refusal import Refusal


def read(fields, chat=False, context_tokens=100):
    body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return read_request(body, chat=chat, model="m", context_tokens=context_tokens)


def refusal(fields, **options):
    with pytest.raises(Refusal) as caught:
        read(fields, **options)
    return caught.value


@pytest.mark.parametrize("prompt", ["é", ["é"], [195, 169], [[195, 169]]])
def test_prompts_come_as_text_or_ids_alone_or_in_a_list(prompt):
    """All are the same two bytes."""
    assert read({"prompt": prompt}).prompt == [195, 169]


def test_defaults():
    """A completion has 16 tokens, no stream, no usage chunk."""
    found = read({"prompt": "a"})
    assert (found.max_new, found.stream, found.usage_at_end, found.usage_in_chunks) == (
        DEFAULT_MAX_TOKENS,
        False,
        False,
        False,
    )


def test_a_chat_is_one_text():
    """A line a message, the last one the assistant's; parts of text are joined; its answer may fill the context."""
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    ]
    found = read({"messages": messages}, chat=True)
    assert bytes(found.prompt).decode() == "system: be brief\nuser: ab\nassistant: "
    assert found.max_new == 100 - len(found.prompt)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_an_answer_is_cut_to_what_fits(name):
    """A prompt of 90 in a context of 100 leaves 10."""
    assert read({"prompt": "a" * 90, name: 40}).max_new == 10


@pytest.mark.parametrize("prompt", ["a" * 100, [97] * 100, "a" * 4000])
def test_a_prompt_that_leaves_no_room_is_refused(prompt):
    """Row 54: before the stream, with the limit in the message."""
    found = refusal({"prompt": prompt})
    assert (found.status, found.code, found.param) == (400, "context_length_exceeded", "prompt")
    assert "context length is 100" in str(found)


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"prompt": ""}, "prompt", "empty"),
        ({"prompt": []}, "prompt", "empty"),
        ({}, "prompt", "NoneType"),
        ({"prompt": 3}, "prompt", "int"),
        ({"prompt": ["a", "b"]}, "prompt", "one prompt a request"),
        ({"prompt": [1, 256]}, "prompt", "0 to 255"),
        ({"prompt": [1, -1]}, "prompt", "0 to 255"),
        ({"prompt": [True]}, "prompt", "0 to 255"),
        ({"prompt": "\ud800"}, "prompt", "not Unicode"),
        ({"prompt": "a", "max_tokens": 0}, "max_tokens", "at least 1"),
        ({"prompt": "a", "max_tokens": -1}, "max_tokens", "at least 1"),
        ({"prompt": "a", "max_tokens": 1.5}, "max_tokens", "at least 1"),
        ({"prompt": "a", "max_tokens": True}, "max_tokens", "at least 1"),
        ({"prompt": "a", "stream": "yes"}, "stream", "true or false"),
        ({"prompt": "a", "stream_options": {"include_usage": True}}, "stream_options", "needs stream"),
        ({"prompt": "a", "stream": True, "stream_options": 3}, "stream_options", "object"),
        ({"prompt": "a", "stream": True, "stream_options": {"include_usage": 3}}, "include_usage", "true or false"),
        ({"prompt": "a", "n": 2}, "n", "not supported"),
        ({"prompt": "a", "temperature": "hot"}, "temperature", "from 0 to 2"),
        ({"prompt": "a", "temperature": -1}, "temperature", "from 0 to 2"),
        ({"prompt": "a", "temperature": True}, "temperature", "from 0 to 2"),
        (b'{"prompt": "a", "temperature": NaN}', "temperature", "got nan"),
        (b'{"prompt": "a", "top_p": 1e999}', "top_p", "got inf"),
        ({"prompt": "a", "presence_penalty": 3}, "presence_penalty", "from -2 to 2"),
        ({"prompt": "a", "frequency_penalty": []}, "frequency_penalty", "from -2 to 2"),
        ({"prompt": "a", "seed": "x"}, "seed", "whole number"),
        ({"prompt": "a", "stop": ["x"]}, "stop", "not supported"),
        ({"prompt": "a", "logprobs": 0}, "logprobs", "not supported"),
        ({"prompt": "a", "echo": True}, "echo", "not supported"),
        ({"prompt": "a", "response_format": {"type": "json_object"}}, "response_format", "not supported"),
    ],
)
def test_what_cannot_be_served_is_named(fields, param, message):
    """The field, what it holds and what would be right."""
    found = refusal(fields)
    assert (found.status, found.param) == (400, param)
    assert message in str(found)


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        (None, "messages"),
        ([], "messages"),
        (["hi"], "messages[0]"),
        ([{"content": "hi"}], "messages[0]"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
        ([{"role": "user", "content": 0}], "messages[0].content"),
        ([{"role": "user", "content": False}], "messages[0].content"),
        ([{"role": "user", "content": {}}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url", "text": "x"}]}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content"),
    ],
)
def test_messages_that_are_none(messages, param):
    """Named by their place."""
    assert refusal({"messages": messages}, chat=True).param == param


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b'"text"', b"[" * 100_000])
def test_a_body_that_is_no_object(body):
    """One refusal for all of them."""
    found = refusal(body)
    assert (found.status, found.code) == (400, "json_invalid")


def test_another_model_is_not_found():
    """404, as a client expects; no model at all means the only one."""
    found = refusal({"prompt": "a", "model": "gpt"})
    assert (found.status, found.code) == (404, "model_not_found")
    assert read({"prompt": "a"}).model == "m"


@pytest.mark.parametrize(
    "extra",
    [{"temperature": 0.7}, {"temperature": None}, {"top_p": 1}, {"seed": 3}, {"user": "u"}, {"n": 1}, {"stop": None}],
)
def test_what_changes_nothing_is_accepted(extra):
    """Clients send it as a matter of course."""
    assert read({"prompt": "a", **extra}).prompt == [97]


def test_refusals_have_the_body_clients_read():
    """Message, type, field and code."""
    body = Refusal("no", param="x", code="y").body
    assert body == {"error": {"message": "no", "type": "invalid_request_error", "param": "x", "code": "y"}}
    assert Refusal("no", status=500).body["error"]["type"] == "server_error"


def test_chunks_of_one_answer_share_id_and_time():
    """Only what they carry differs; usage is null before the end where it was asked for."""
    answer = Answer(read({"prompt": "ab", "stream": True, "stream_options": {"include_usage": True}}))
    chunk, usage = answer.chunk("x", 1), answer.usage_chunk(1)
    assert (chunk["id"], chunk["created"]) == (usage["id"], usage["created"])
    assert (chunk["object"], chunk["usage"], usage["choices"]) == ("text_completion", None, [])
    assert usage["usage"] == {"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3}


@pytest.mark.parametrize("name", ["model", "stop", "stream", "max_tokens", "temperature", "seed", "stream_options"])
def test_a_refusal_does_not_repeat_all_that_was_sent(name):
    """A wrong value of a hundred thousand signs comes back cut."""
    assert len(str(refusal({"prompt": "a", "stream": True, name: "x" * 100_000}))) < 300
