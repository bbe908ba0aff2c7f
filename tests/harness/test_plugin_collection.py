import pytest

REFUSED = {
    "parametrize": ("import pytest\n@pytest.mark.parametrize('n', [1, 2])\n", ", n", "mark.parametrize is not allowed"),
    "skip": ("import pytest\n@pytest.mark.skip\n", "", "mark.skip is not allowed"),
    "xfail": ("import pytest\n@pytest.mark.xfail\n", "", "mark.xfail is not allowed"),
    "given": (
        "from hypothesis import given, strategies as st\n@given(n=st.integers())\n",
        ", n",
        "put @given on a check inside the test",
    ),
    "params of a fixture": (
        "import pytest\n@pytest.fixture(params=[1, 2])\ndef n(request):\n    return request.param\n",
        ", n",
        "a fixture with params makes 2 tests of it",
    ),
    "params from elsewhere": (
        "def pytest_generate_tests(metafunc):\n    metafunc.parametrize('n', [1, 2])\n",
        ", n",
        "makes 2 tests of it",
    ),
    "mark of the module": ("import pytest\npytestmark = pytest.mark.skip\n", "", "mark.skip is not allowed"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_test_that_breaks_a_rule_is_an_error_of_collection(project, fault):
    """What to do instead is said, the claim's row is an error, and another topic is judged."""
    above, uses, said = REFUSED[fault]
    project.claim(above=above, uses=uses).claim("dear", topic="bank")
    run = project.run()
    assert run.code == 1
    assert said in run.out
    assert run.verdicts == {"shop.cheap": "error", "bank.dear": "holds"}
    assert said in run.rows["shop.cheap"]["reason"]


def test_a_test_without_a_claim_beside_the_data_is_refused(project):
    """Every test of a topic belongs to a claim."""
    project.claim().write("claims/shop/test_more.py", "def test_more():\n    pass\n")
    run = project.run()
    assert run.code == 1
    assert "tests beside a claims.toml belong to a claim" in run.out
    assert run.verdicts == {"shop.cheap": "holds"}


def test_a_claim_with_a_name_that_pytest_does_not_collect_is_refused(project):
    """A declared test that would silently never run."""
    test = "from runtwice import claim\n@claim('shop.cheap')\ndef check_cheap(evidence):\n    pass\n"
    project.claim("dear", topic="bank").claim().write("claims/shop/test_shop.py", test)
    run = project.run()
    assert "pytest does not take it for a test" in run.out
    assert run.verdicts == {"shop.cheap": "error", "bank.dear": "holds"}


@pytest.mark.parametrize("module", ["test_shop.py", "test_other.py"])
def test_a_claim_has_one_test(project, module):
    """A second one, beside it or in another module, is refused where it is collected."""
    project.claim(module="test_another.py")
    again = (
        "from runtwice import claim\n@claim('shop.cheap')\ndef test_again(evidence):\n    evidence.identical(1, 1)\n"
    )
    project.write(f"claims/shop/{module}", again)
    run = project.run()
    assert run.code == 1
    assert "claim 'shop.cheap' has two tests" in run.out
    assert "test_another.py::test_cheap" in run.out


def test_a_claim_may_be_tested_in_a_class(project):
    """A method's claim is bound, judged and fingerprinted like a function's, inherited ones included."""
    project.claim("cheap").claim("dear")
    project.write(
        "claims/shop/test_shop.py",
        """
        from runtwice import claim

        class TestShop:
            @claim("shop.cheap")
            def test_price(self, evidence):
                evidence.identical(1, 1)

        class Base:
            @claim("shop.dear")
            def test_price(self, evidence):
                evidence.identical(1, 2)

        class TestInherited(Base):
            pass
        """,
    )
    run = project.run()
    assert run.verdicts == {"shop.cheap": "holds", "shop.dear": "refuted"}
    assert run.rows["shop.cheap"]["nodeid"] == "claims/shop/test_shop.py::TestShop::test_price"
    codes = {row["fingerprint"]["code"] for row in run.rows.values()}
    assert len(codes) == 2


def test_one_broken_test_of_a_class_breaks_its_class(project):
    """The claims of the class are errors; those beside it are judged."""
    project.claim("cheap").claim("dear").claim("plain")
    project.write(
        "claims/shop/test_shop.py",
        """
        import pytest
        from runtwice import claim

        class TestShop:
            @claim("shop.cheap")
            def test_cheap(self, evidence):
                evidence.identical(1, 1)

            @pytest.mark.skip
            @claim("shop.dear")
            def test_dear(self, evidence):
                evidence.identical(1, 1)

        @claim("shop.plain")
        def test_plain(evidence):
            evidence.identical(1, 1)
        """,
    )
    assert project.run().verdicts == {"shop.cheap": "error", "shop.dear": "error", "shop.plain": "holds"}


BROKEN = {
    "claims/shop/test_shop.py": ("import no_such_library\n", "No module named 'no_such_library'"),
    "claims/shop/conftest.py": ("import no_such_library\n", "No module named 'no_such_library'"),
}


@pytest.mark.parametrize("path", BROKEN)
def test_a_topic_that_does_not_import_leaves_the_others_their_verdicts(project, path):
    """Its selected claims are rows of verdict `error`, whether the module or its conftest is broken."""
    project.claim("cheap").claim("slow", tier="slow").claim("dear", topic="bank")
    target = project.root / path
    target.write_text(BROKEN[path][0] + (target.read_text() if target.exists() else ""))
    run = project.run()
    assert run.code == 1
    assert run.verdicts == {"shop.cheap": "error", "bank.dear": "holds"}
    assert BROKEN[path][1] in run.rows["shop.cheap"]["reason"]
    assert run.document["claims"]["partial"] is False


def test_a_module_that_python_cannot_read_is_such_a_topic(project):
    """A syntax error still leaves rows."""
    project.claim().claim("dear", topic="bank")
    project.write("claims/shop/test_shop.py", "@claim('shop.cheap')\ndef test_cheap(:\n")
    assert project.run().verdicts == {"shop.cheap": "error", "bank.dear": "holds"}


def test_a_module_that_skips_itself_leaves_rows(project):
    """Claims do not vanish where a library is asked for at the top of a module: they are not run."""
    project.claim().claim("dear", topic="bank")
    target = project.root / "claims/shop/test_shop.py"
    target.write_text("import pytest\npytest.importorskip('no_such_library')\n" + target.read_text())
    run = project.run()
    assert (run.code, run.verdicts) == (0, {"shop.cheap": "not run", "bank.dear": "holds"})
    assert "no_such_library" in run.rows["shop.cheap"]["reason"]


def test_only_the_selected_claims_of_a_broken_module_get_rows(project):
    """By topic, pattern, tier and keywords, as if they had been collected."""
    for name in ("cheap", "dear"):
        project.claim(name)
    target = project.root / "claims/shop/test_shop.py"
    target.write_text("import no_such_library\n" + target.read_text())
    project.claim("plain", topic="bank")
    for arguments, shown in (
        (["--topic=bank"], {"bank.plain"}),
        (["--claim=shop.d*"], {"shop.dear"}),
        (["-k", "bank"], {"bank.plain"}),
        (["-k", "shop and not dear"], {"shop.cheap"}),
    ):
        assert set(project.run(*arguments).verdicts) == shown


def test_broken_data_break_their_topic_alone(project):
    """There is no claim to make a row of; the error names the file, and others are judged."""
    project.claim().claim("dear", topic="bank")
    project.write("claims/shop/claims.toml", "[cheap\n")
    run = project.run()
    assert run.code == 1
    assert "claims.toml: not valid TOML" in run.out
    assert run.verdicts == {"bank.dear": "holds"}


def test_a_broken_module_elsewhere_still_stops_the_run(project):
    """Only a topic's breakage is passed over."""
    project.claim().write("claims/test_loose.py", "import no_such_library\n")
    run = project.run()
    assert (run.code, run.rows) == (2, {})


def test_ordinary_tests_beside_claims_run_as_ever(project):
    """Outside a topic, tests, marks and parameters are pytest's own business."""
    project.claim().write(
        "claims/test_loose.py",
        """
        import pytest

        @pytest.mark.parametrize("n", [1, 2])
        def test_loose(n):
            assert n

        @pytest.mark.skip
        def test_skipped():
            pass
        """,
    )
    run = project.run()
    assert run.code == 0
    assert "2 passed" in run.out
    assert "1 skipped" in run.out
    assert run.verdicts == {"shop.cheap": "holds"}


def test_the_fixture_belongs_to_claims(project):
    """Asked for elsewhere it says so."""
    project.claim().write("claims/test_loose.py", "def test_loose(evidence):\n    pass\n")
    assert "the fixture `evidence` belongs to tests declared with @claim" in project.run().out


def test_collecting_only_writes_nothing(project):
    """`--collect-only` lists and leaves no file, ledger or journal."""
    project.claim()
    run = project.run("--collect-only", "-q")
    assert run.code == 0
    assert "claims/shop/test_shop.py::test_cheap" in run.out
    assert not list(project.root.glob("ledger*"))


def test_collecting_only_imports_nothing_of_an_experiment(project):
    """Libraries arrive in fixtures and bodies, which collecting does not run."""
    project.claim(body="import no_such_library", uses=", engine")
    project.write(
        "claims/shop/conftest.py", "import pytest\n@pytest.fixture\ndef engine():\n    import no_such_library\n"
    )
    assert project.run("--collect-only").code == 0


def test_two_runs_in_one_process_share_nothing(project):
    """A broken topic of the first run is not a row of the second."""
    project.claim().claim("dear", topic="bank")
    target = project.root / "claims/shop/test_shop.py"
    whole = target.read_text()
    target.write_text("import no_such_library\n" + whole)
    assert project.run().verdicts == {"shop.cheap": "error", "bank.dear": "holds"}
    target.write_text(whole)
    assert project.run().verdicts == {"shop.cheap": "holds", "bank.dear": "holds"}
    assert project.run("--topic=bank").verdicts == {"bank.dear": "holds"}
