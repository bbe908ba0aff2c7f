import json
import threading

import pytest

from implementations.scheduling.results import Results


@pytest.fixture
def results(tmp_path):
    """A folder of results that is still to be made."""
    return Results(tmp_path / "deep" / "results")


def test_a_result_is_kept(results):
    """And found again, by whoever looks into the folder."""
    assert results.put("job-1", {"loss": 0.5}) == {"loss": 0.5}
    assert Results(results.folder).get("job-1") == {"loss": 0.5}
    assert results.jobs() == ["job-1"]


def test_there_is_none_before(results):
    """Also where the folder is not there."""
    assert (results.get("job-1"), results.jobs()) == (None, [])


def test_the_first_result_stays(results):
    """A job that ran twice has one, and the second run is told the first one's."""
    results.put("job-1", 1)
    assert results.put("job-1", 2) == 1
    assert len(list(results.folder.iterdir())) == 1


def test_of_many_at_once_one_wins_and_all_agree(results):
    """No reader sees a part of a file."""
    told = []
    threads = [threading.Thread(target=lambda i=i: told.append(results.put("job-1", [i] * 5000))) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == told[0] for one in told)
    assert json.loads((results.folder / "job-1.json").read_text()) == told[0]


def test_what_json_cannot_hold_leaves_nothing(results):
    """The job has no result rather than a broken one."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        results.put("job-1", float("nan"))
    assert results.get("job-1") is None


@pytest.mark.parametrize("job", ["", "a/b", "../job-1"])
def test_a_job_whose_name_leaves_the_folder_is_refused(results, job):
    """Nothing is written."""
    with pytest.raises(ValueError, match="without a folder"):
        results.put(job, 1)
    assert not results.folder.exists()


def test_a_result_that_json_does_not_have_leaves_nothing(results):
    """Neither a file nor a half of one."""
    for bad in (float("nan"), {1, 2}):
        with pytest.raises((TypeError, ValueError)):
            results.put("job-1", bad)
    assert results.jobs() == []
