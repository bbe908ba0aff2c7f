import pytest

from runtwice.claim import Declaration, claim, load, load_all
from runtwice.errors import ClaimError
from runtwice.verdict import Verdict

ROW = 'says = "It is cheap."\nkind = "identity"\ntier = "fast"\n'


@pytest.fixture
def loaded(tmp_path):
    """Loads one claim, `shop.cheap`, from further lines of its row (and of the file before it)."""

    def load_row(more="", head='post = "a-post"', row=ROW):
        path = tmp_path / "shop" / "claims.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{head}\n[cheap]\n{row}{more}\n", encoding="utf-8")
        return load(path)["shop.cheap"]

    return load_row


# --- the data --------------------------------------------------------------------------------------------------


def test_a_row_becomes_a_claim(loaded):
    """Fields keep their meaning: conditions as they are, figures as printed, needs and bounds checked."""
    found = loaded(
        'given = { budgets = [20, 50] }\nprinted = { a = "1.0" }\nrequired.b = ["1", "2"]\n'
        'needs = ["numpy>=1.26", "gpu"]\nmargin = 0.5\ntolerance.a = { abs = 1, because = "why" }\n'
        'exempt = { b = "not ours" }\n'
    )
    assert (found.id, found.topic, found.post, found.tier, found.margin) == (
        "shop.cheap",
        "shop",
        "a-post",
        "fast",
        0.5,
    )
    assert found.given == {"budgets": [20, 50]}
    assert list(found.figures) == ["a", "b"]
    assert found.needs == ("numpy>=1.26", "gpu")
    assert (found.tolerance_of("a").abs, found.tolerance_of("b")) == (1.0, None)
    assert found.exempt_figures == {"b": "not ours"}


def test_tables_with_says_are_claims_and_others_namespaces(tmp_path):
    """The folder is the topic, nested tables are parts of the id."""
    (tmp_path / "itl").mkdir()
    (tmp_path / "itl" / "claims.toml").write_text(f'post = "p"\n[adversarial.oracle-fuzz]\n{ROW}[plain]\n{ROW}')
    assert sorted(load_all(tmp_path)) == ["itl.adversarial.oracle-fuzz", "itl.plain"]


def test_a_row_may_name_another_post(loaded):
    """The post at the top is a default."""
    assert loaded('post = "another"').post == "another"


def test_a_tolerance_without_a_name_is_the_claims_own(loaded):
    """It counts for every figure and label without one."""
    assert loaded('tolerance = { rel = 0.1, because = "why" }').tolerance_of("anything").rel == 0.1


def test_an_exempt_claim_needs_no_tier(loaded):
    """What is never run has none."""
    found = loaded('exempt = "a joke"', row='says = "s"\nkind = "record"\n')
    assert (found.exempt, found.tier, found.default_verdict) == ("a joke", "", Verdict.RECORDED)


def test_a_claim_that_supports_another_names_it(loaded):
    """The claim it supports stands in the same file."""
    assert loaded('supports = "shop.cheap"').supports == "shop.cheap"
    with pytest.raises(ClaimError, match=r"supports 'shop\.dear', which is no claim"):
        loaded('supports = "shop.dear"')


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("speed = 1", "unknown field 'speed'"),
        ('printed = { a = "1" }\nrequired = { a = "1" }', "both printed and required"),
        ("printed = { a = 1.0 }", r"printed\.a: 1\.0 is not a figure"),
        ('printed = { a = "1e999" }', r"printed\.a: .*64 bits"),
        ('printed = "1"', "must be a table"),
        ("given = [1]", "must be a table"),
        ('needs = "numpy"', "must be a list of texts"),
        ('needs = ["scikit learn"]', "neither a package nor one of gpu"),
        ("tolerance = 0.1", "must be a table"),
        ("tolerance = { abs = 0.1 }", "gives no reason"),
        ('tolerance = { abs = 0.1, because = " " }', "gives no reason"),
        ('tolerance = { because = "why" }', "must be { abs"),
        ('tolerance = { abs = -1, because = "why" }', "finite number of at least 0"),
        ('tolerance = { abs = inf, because = "why" }', "finite number of at least 0"),
        ('tolerance = { rel = "1", because = "why" }', "finite number of at least 0"),
        ('tolerance.a = { abs = 1, why = "w" }', r"tolerance\.a is"),
        ("margin = -1", "`margin` is -1"),
        ("margin = nan", "`margin` is nan"),
        ("margin = true", "`margin` is True"),
        ("stand_in = true", "`stand_in` is True"),
        ('note = ""', "`note` is ''"),
        ('exempt = { a = "why" }', "exempts 'a', which is neither"),
        ('printed = { a = "1" }\nexempt = { a = "" }', "`a` is ''"),
        ('exempt = ["a"]', "must be a table"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(loaded, more, said):
    """The message names the file, the claim, the field and what would be right."""
    with pytest.raises(ClaimError, match=rf"claims\.toml: shop\.cheap.*{said}"):
        loaded(more)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('says = ""\nkind = "identity"\ntier = "fast"\n', "`says` is ''"),
        ('says = "s"\nkind = "speed"\ntier = "fast"\n', "`kind` is 'speed'; it must be one of identity"),
        ('says = "s"\nkind = "identity"\ntier = "quick"\n', "`tier` is 'quick'; it must be one of fast"),
        ('says = "s"\nkind = "identity"\n', "`tier` is None"),
    ],
)
def test_a_field_that_every_claim_has_must_be_right(loaded, row, said):
    """What the post says, the kind and the tier are asked for."""
    with pytest.raises(ClaimError, match=said):
        loaded(row=row)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[cheap", "not valid TOML"),
        ('speed = 1\npost = "p"\n', "only `post` may stand outside a claim"),
        ("[cheap]\nkind = 'identity'\n", "has the field 'kind' but no `says`"),
        (f"['cheap.er']\n{ROW}", "made of letters, digits"),
        (f"[cheap]\n{ROW}[cheap]\n{ROW}", "not valid TOML"),
        (f"[cheap]\n{ROW}", "`post` is None"),
    ],
)
def test_a_file_that_is_no_data_file_is_refused(tmp_path, text, said):
    """Ids are unique, and nothing stands there without meaning something."""
    path = tmp_path / "claims.toml"
    path.write_text(text)
    with pytest.raises(ClaimError, match=said):
        load(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    """A folder, or bytes that are no text, are named."""
    (tmp_path / "latin.toml").write_bytes(b'post = "\xe9"')
    for path, said in ((tmp_path, "cannot be read"), (tmp_path / "latin.toml", "not valid TOML")):
        with pytest.raises(ClaimError, match=said):
            load(path)


# --- the declaration -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"expect": "true"}, "the verdicts are holds, refuted"),
        ({"expect": "refuted"}, "needs because"),
        ({"expect": "refuted", "because": " "}, "needs because"),
        ({"expect": {"numpy<2": "refuted"}}, "needs because"),
        ({"expect": {"numpy<2": "gone"}, "because": "why"}, "expect='gone'"),
    ],
)
def test_a_declaration_gives_a_verdict_and_its_reason(arguments, said):
    """Another verdict than holds needs a reason, and must be one of the seven."""
    with pytest.raises(ClaimError, match=said):
        claim("shop.cheap", **arguments)


@pytest.mark.parametrize("expect", [None, "holds", "recorded", {}, {"numpy<2": "holds"}])
def test_the_verdicts_that_need_no_reason(expect):
    """What holds, or is only kept, explains itself."""
    assert claim("shop.cheap", expect=expect)(lambda: None).__claim__.expect == expect


def test_the_first_condition_that_is_met_gives_the_verdict():
    """Conditions are asked in order; where none is met the default stays."""
    declared = Declaration("shop.cheap", {"numpy<2": "refuted", "cuda": "within noise"}, "why")
    assert declared.conditions == ("numpy<2", "cuda")
    assert declared.expected(Verdict.HOLDS, lambda condition: True) == "refuted"
    assert declared.expected(Verdict.HOLDS, lambda condition: condition == "cuda") == "within noise"
    assert declared.expected(Verdict.RECORDED, lambda condition: False) == "recorded"


def test_a_single_verdict_counts_everywhere():
    """Without conditions the declared verdict is the declared verdict."""
    assert Declaration("shop.cheap", "refuted", "why").expected(Verdict.HOLDS, lambda condition: False) == "refuted"
    assert Declaration("shop.cheap").expected(Verdict.HOLDS, lambda condition: True) == "holds"
    assert Declaration("shop.cheap").conditions == ()


def test_the_decorator_leaves_the_function_as_it_is():
    """The declaration travels on the function."""

    def test():
        pass

    assert claim("shop.cheap", expect="refuted", because="why")(test) is test
    assert test.__claim__ == Declaration("shop.cheap", "refuted", "why")
