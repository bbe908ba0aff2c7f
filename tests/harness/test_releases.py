import subprocess

import pytest
from packaging.version import Version

from runtwice import releases
from runtwice.errors import ReleaseError
from runtwice.releases import Answer

LISTING = "numpy (2.1.0)\nAvailable versions: 2.1.0, 2.0.1, 2.0.0, 1.26.4\n  INSTALLED: 2.1.0\n"
NO_SUCH = "ERROR: No matching distribution found for numpi\n"
NO_NETWORK = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(': Failed to "
    "establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/numpy/\n" + NO_SUCH
)


@pytest.fixture
def asked(monkeypatch):
    """What pip was asked, and what it answers: set `.answers` to answers in turn; the last one stays."""

    class Asked(list):
        pass

    found = Asked()
    found.answers = [Answer(0, LISTING, "")]

    def pip(*arguments, **_):
        found.append(arguments)
        return found.answers[min(len(found), len(found.answers)) - 1]

    monkeypatch.setattr(releases, "pip", pip)
    releases.released.cache_clear()
    yield found
    releases.released.cache_clear()


def test_releases_come_oldest_first_and_from_wheels_only(asked):
    """Pip is asked once for each package."""
    assert [str(one) for one in releases.released("NumPy")] == ["1.26.4", "2.0.0", "2.0.1", "2.1.0"]
    releases.released("NumPy")
    ((*_, package, only, every, retries, one),) = asked
    assert (package, only, every, retries, one) == ("numpy", "--only-binary", ":all:", "--retries", "1")


@pytest.mark.parametrize(
    ("good", "bad", "row"),
    [
        ("1.26.4", "2.0.1", ["1.26.4", "2.0.0", "2.0.1"]),
        ("2.0.1", "1.26.4", ["2.0.1", "2.0.0", "1.26.4"]),
        ("2.0", "2.1", ["2.0.0", "2.0.1", "2.1.0"]),
    ],
)
def test_a_row_runs_from_good_to_bad(asked, good, bad, row):
    """Upwards or downwards, however the ends are written."""
    assert [str(one) for one in releases.between("numpy", good, bad)] == row


def test_pre_releases_are_passed_over_unless_one_is_an_end(asked):
    """Naming one is asking for it, and for no other."""
    asked.answers = [Answer(0, LISTING, ""), Answer(0, "Available versions: 2.2.0rc1, 2.1.0, 2.0.0rc2, 1.26.4", "")]
    row = releases.between("numpy", "1.26.4", "2.2.0rc1")
    assert [str(one) for one in row] == ["1.26.4", "2.0.0", "2.0.1", "2.1.0", "2.2.0rc1"]
    assert "--pre" in asked[1]
    assert Version("2.0.0rc2") in releases.between("numpy", "1.26.4", "2.1.0", pre=True)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(1, "", NO_SUCH), "no package 'numpy' with a wheel for this Python: No matching distribution"),
        (Answer(1, "", NO_NETWORK), "the package index cannot be reached to look for numpy"),
        (Answer(1, "", ""), "pip said nothing"),
    ],
)
def test_a_missing_package_and_a_missing_network_are_told_apart(asked, answer, said):
    """Each is one line."""
    asked.answers = [answer]
    with pytest.raises(ReleaseError, match=said) as error:
        releases.released("numpy")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("package", "good", "bad", "said"),
    [
        ("numpy", "2.0.0", "2.0", "good and bad are both numpy 2.0.0"),
        ("numpy", "2.0.0", "9.9", "numpy 9.9 is no release with a wheel for this Python; near it are"),
        ("numpy", "two", "2.0.0", "'two' is no version of numpy"),
        ("numpy<2", "1.26.4", "2.0.0", "'numpy<2' is no plain name of a package"),
        ("--pre", "1.26.4", "2.0.0", "'--pre' is no name of a package"),
    ],
)
def test_ends_that_are_none_are_refused(asked, package, good, bad, said):
    """Before anything is built."""
    with pytest.raises(ReleaseError, match=said):
        releases.between(package, good, bad)


def test_a_withdrawn_release_is_known_from_pips_report(asked):
    """Where pip does not say, it is taken for one that stands."""
    asked.answers = [Answer(0, '{"install": [{"is_yanked": true}]}', ""), Answer(1, "", "no such option: --report")]
    assert releases.is_yanked("numpy", "2.0.0")
    assert not releases.is_yanked("numpy", "2.0.0")


def test_an_environment_without_pip_says_how_to_get_it(monkeypatch):
    """And one that hangs says so."""
    done = subprocess.CompletedProcess([], 1, "", "/x/python: No module named pip")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: done)
    with pytest.raises(ReleaseError, match="has no pip; install it with"):
        releases.pip("index")

    def hang(*args, **kwargs):
        raise subprocess.TimeoutExpired("pip", 1.0)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(ReleaseError, match="pip took more than 1 s"):
        releases.pip("index", timeout_s=1.0)
