import pytest

from runtwice import ledger

pytest.importorskip("xdist")

SHARED = """
import os
import pytest

@pytest.fixture(scope="session")
def process():
    return os.getpid()
"""
NAMESAKES = """
from runtwice import claim

class TestOne:
    @claim("bank.one")
    def test_it(self, evidence):
        evidence.identical(1, 1)

class TestTwo:
    @claim("bank.two")
    def test_it(self, evidence):
        evidence.identical(1, 2)
"""


@pytest.fixture
def town(project):
    """Three topics: one that measures, one of namesakes in classes, one that does not import."""
    project.write("conftest.py", SHARED)
    for name in ("a", "b", "c"):
        project.claim(name, "evidence.recorded('process', [process], unit='id')", uses=", process", kind="record")
    project.claim("timed", data='needs = ["quiet-machine"]\n')
    project.claim("step", "evidence.recorded('step', [1.0], unit='ms')", kind="record")
    project.claim("one", topic="bank").claim("two", topic="bank").claim("gone", topic="port")
    project.write("claims/bank/test_bank.py", NAMESAKES)
    project.write("claims/port/conftest.py", "import no_such_library\n")
    return project


def test_two_workers_give_what_one_process_gives(town):
    """Rows, selection, benchmark entries and exit status are the same, a broken topic and namesakes included."""
    alone, shared = town.run(), town.run("-n2", "--junitxml=junit.xml", apart=True)
    assert alone.code == shared.code == 1
    assert shared.verdicts == {**alone.verdicts, "shop.timed": "not run"}
    assert shared.verdicts["port.gone"] == "error"
    assert (shared.verdicts["bank.one"], shared.verdicts["bank.two"]) == ("holds", "refuted")
    block = shared.document["claims"]
    assert (block["selection"], block["partial"]) == (alone.document["claims"]["selection"], False)
    assert shared.rows["bank.two"]["nodeid"] == "claims/bank/test_bank.py::TestTwo::test_it"
    for id_, row in alone.rows.items():
        assert row["fingerprint"] == shared.rows[id_]["fingerprint"], id_
    assert [entry["fullname"] for entry in shared.document["benchmarks"]] == ["shop.step"]
    assert 'name="verdict" value="refuted"' in (town.root / "junit.xml").read_text()
    # A topic stays on one worker, so that its shared experiments run once.
    assert len({shared.rows[f"shop.{name}"]["samples"]["process"][0] for name in "abc"}) == 1
    assert shared.rows["shop.timed"]["reason"] == "needs the machine to itself"
    assert alone.rows["shop.timed"]["verdict"] == "holds"


def test_a_worker_that_dies_of_a_claim_makes_it_an_error(project):
    """The claims after it are judged, and a resumed run tries that one again and carries the others."""
    body = "from pathlib import Path\nran = Path('{name}')\n{deed}\nran.touch()\nevidence.identical(1, 1)"
    for name in "abc":
        deed = (
            "import os\nassert not ran.exists()"
            if name != "b"
            else "import os\nif not Path('go').exists(): os._exit(1)"
        )
        project.claim(name, body.format(name=name, deed=deed))
    run = project.run("-n1", apart=True)
    assert run.code == 1
    assert run.verdicts == {"shop.a": "holds", "shop.b": "error", "shop.c": "holds"}
    assert "crashed while running" in run.rows["shop.b"]["reason"]
    assert run.document["claims"]["partial"] is False
    project.write("go", "")
    result = project.pytester.runpytest_subprocess("claims/", f"--resume={project.ledger}", "-n1")
    assert result.ret == 0
    assert ledger.read(project.ledger).completeness == "complete, 3 claims"
