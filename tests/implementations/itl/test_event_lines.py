"""The JSON-lines form: what it looks like, and what is said of a line that is wrong."""

import pytest

from implementations.itl.event_lines import read_log, read_records
from implementations.itl.events import EventLog

HEADER = '{"format": "runtwice-events", "schema": 1}'
STEP = '{"record": "step", "start_s": 0.0, "end_s": 1.0, "n_decode": 2, "captured": "eager"}'
GOOD = [
    HEADER,
    '{"record": "segment", "step": 0, "kind": "decode", "start_s": 0.25, "end_s": 1.0, "cpu_s": 0.5}',
    STEP,
    "",
    '{"record": "collection", "start_s": 0.5, "end_s": 0.75, "generation": 2}',
    '{"record": "emission", "request": "a", "time_s": 1.0, "step": 0}',
    '{"record": "emission", "request": "a", "time_s": 2}',
    '{"record": "eviction", "request": "a", "evicted_s": 1.25}',
    '{"record": "eviction", "request": "a", "evicted_s": 1.25, "readmitted_s": 1.5}',
    '{"record": "request", "request": "a", "arrival_s": 0.0, "max_new_tokens": 2}',
]


def written(tmp_path, lines):
    """A file with these lines."""
    path = tmp_path / "engine.jsonl"
    path.write_bytes("\n".join(lines).encode() if isinstance(lines, list) else lines)
    return path


def test_documented_lines_are_read(tmp_path):
    """Records in any order, blank lines, what may be left out left out."""
    assert read_log(written(tmp_path, GOOD)) == EventLog.from_events(
        [(0.0, 1.0, 2, "eager")],
        [(0, "decode", 0.25, 1.0, 0.5)],
        [(0.5, 0.75, 2)],
        [("a", 1.0, 0), ("a", 2.0, None)],
        [("a", 1.25, None), ("a", 1.25, 1.5)],
        [("a", 0.0, None, 2)],
    )


def test_written_lines_are_the_documented_ones(tmp_path):
    """A log is written with the header first, and null only where it says something."""
    path = written(tmp_path, GOOD)
    EventLog.load(path).save(path)
    lines = path.read_text().splitlines()
    assert lines[:2] == [HEADER, STEP]
    assert '{"record": "eviction", "request": "a", "evicted_s": 1.25}' in lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a line of JSON"),
        ('{"record": "step", "start_s": NaN}', "not a line of JSON: NaN is not JSON"),
        ("[1, 2]", r"\[1, 2\] is not a JSON object"),
        ("7", "7 is not a JSON object"),
        ("{}", "record None is none of step, segment"),
        ('{"record": "token"}', "record 'token' is none of"),
        ('{"record": ["step"]}', r"record \['step'\] is none of"),
        ('{"record": "collection", "start_s": 0}', "collection lacks end_s, generation"),
        (
            '{"record": "collection", "start_s": 0, "end_s": 1, "generation": 0, "end": 1}',
            "collection has no field end",
        ),
        (
            '{"record": "collection", "start_s": "0", "end_s": 1, "generation": 0}',
            "start_s '0' is not a number",
        ),
        (
            '{"record": "collection", "start_s": true, "end_s": 1, "generation": 0}',
            "start_s True is not a number",
        ),
        ('{"record": "collection", "start_s": null, "end_s": 1, "generation": 0}', "collection: start_s: "),
        (
            '{"record": "collection", "start_s": 1e999, "end_s": 1, "generation": 0}',
            "collection: start_s: inf",
        ),
        (
            '{"record": "collection", "start_s": 2, "end_s": 1, "generation": 0}',
            "collection: end_s 1.0 is before",
        ),
        ('{"record": "collection", "start_s": 0, "end_s": 1, "generation": 0.5}', "collection: generation: "),
        ('{"record": "segment", "kind": "tok", "start_s": 0, "end_s": 1}', "segment lacks step"),
        (
            '{"record": "segment", "step": 7, "kind": "tok", "start_s": 0, "end_s": 1}',
            "segment: names an unknown step",
        ),
        (
            '{"record": "segment", "step": 0, "kind": "sample", "start_s": 0, "end_s": 1}',
            "unknown kind 'sample'",
        ),
        ('{"record": "emission", "request": [1], "time_s": 0}', r"request \[1\] is not a number or a string"),
        (
            '{"record": "emission", "request": "a", "time_s": 0.5, "step": 0}',
            "emission: request a emits at 0.5 s",
        ),
    ],
)
def test_bad_line_is_named_by_file_line_and_fault(tmp_path, line, message):
    """Whatever is wrong, and wherever it shows, the error starts with the place of the line."""
    path = written(tmp_path, [*GOOD[:6], line, *GOOD[6:]])
    with pytest.raises(ValueError, match=f"^{path}:7: {message}|^{path}:7: .*{message}"):
        read_log(path)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (b"", 1, "empty"),
        (b"\n\n", 1, "empty"),
        (STEP.encode(), 1, "not the header"),
        (b'{"format": "runtwice-events"}', 1, "schema None, this version reads 1"),
        (b'{"format": "runtwice-events", "schema": 2}', 1, "schema 2, this version reads 1"),
        (HEADER.encode() + b"\n" + HEADER.encode(), 2, "record None"),
        (HEADER.encode() + b'\n{"record": "\xff"}', 2, "not a line of JSON: .*utf-8"),
        (HEADER.encode() + b"\n" + STEP.encode()[:30], 2, "not a line of JSON"),
    ],
)
def test_file_that_is_no_log(tmp_path, text, place, message):
    """Empty, headless, truncated, of a later schema or not UTF-8."""
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=f"^{path}:{place}: {message}"):
        EventLog.load(path)


def test_records_are_read_one_line_at_a_time():
    """A stream is not read past the record it is at."""

    def lines():
        yield HEADER.encode()
        yield STEP.encode()
        raise AssertionError("read too far")

    records = read_records(lines(), "stream")
    assert next(records) == (2, "steps", (0.0, 1.0, 2, "eager"))
