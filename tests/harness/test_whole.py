import os
import stat
import threading

import pytest

from runtwice import whole


def test_a_text_is_written_as_it_is(tmp_path):
    """Signs and line breaks unchanged, and no other file left."""
    whole.write(tmp_path / "a", "größe\r\n\n")
    assert (tmp_path / "a").read_bytes() == "größe\r\n\n".encode()
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_what_stood_there_keeps_its_rights(tmp_path):
    """A ledger that a group may write stays one."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o664)
    whole.write(tmp_path / "a", "new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o664


def test_a_link_stays_a_link(tmp_path):
    """What it leads to is written, there or not yet there."""
    for name in ("there", "gone"):
        (tmp_path / name).symlink_to(tmp_path / f"{name}.json")
    (tmp_path / "there.json").write_text("old")
    for name in ("there", "gone"):
        whole.write(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / f"{name}.json").read_text() == "new"


def test_a_text_that_cannot_be_written_leaves_what_was_there(tmp_path):
    """Neither half of it nor a file beside it; the error names the path that was asked for."""
    (tmp_path / "a").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        whole.write(tmp_path / "a", "\ud800")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    with pytest.raises(NotADirectoryError) as caught:
        whole.write(tmp_path / "a" / "b", "new")
    assert caught.value.filename == str(tmp_path / "a" / "b")


def test_a_pipe_is_written_into(tmp_path):
    """Of what is no file of its own nothing is put in the place."""
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    whole.write(tmp_path / "pipe", "new")
    reader.join(10)
    assert read == ["new"]
    assert not (tmp_path / "pipe").is_file()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_a_full_device_is_told():
    """With its name, which Python leaves out of what a file's end says."""
    with pytest.raises(OSError, match="No space left") as caught:
        whole.write(whole.Path("/dev/full"), "new")
    assert caught.value.filename == "/dev/full"
