import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtwice import catalogue, ledger
from runtwice.catalogue import TestSource as Source
from runtwice.errors import ClaimError
from runtwice.evidence import Evidence
from runtwice.report import write_page
from runtwice.report.plots import load
from runtwice.report.site import reference
from runtwice.verdict import Verdict
from tests.harness.builders import a_claim, a_row, evidence_for
from tests.harness.report.builders import REFERENCE, ROOT, a_ledger, a_site, claims_of, many

KEPT = ROOT / "tests" / "harness" / "ledgers"
VOID = {"meta", "link", "br", "input", "hr", "img"}


class Page(HTMLParser):
    """What a test looks at: ids, links, visible text, and whether every element is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.words, self.open, self.faults, self.fetched = [], [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.fetched += [values[key] for key in ("src", "srcset", "poster", "data") if key in values]
        if tag == "link":
            self.fetched.append(values["href"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> at {self.getpos()} closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def pages(tmp_path, *ledgers, **more):
    texts, _ = a_site(tmp_path, *ledgers, **more)
    return {name: Page(text) for name, text in texts.items()}


# --- what a page says ---------------------------------------------------------------------------------------------


def test_a_claim_stands_on_both_pages_with_its_own_anchor(tmp_path):
    """In the table of all claims, and in its topic with how it is tested, its note and its reason."""
    claim = a_claim(note="It contradicts itself.", stand_in="other data", given={"seeds": 5})
    found = claims_of(claim)
    found.tests["shop.cheap"] = [Source("shop.cheap", tmp_path / "test_shop.py", "test_it", 7, "Two ways of paying.")]
    made = pages(tmp_path, a_ledger(a_row(reason="it was cheap")), found=found)
    assert "shop.cheap" in made["index.html"].ids
    assert "shop.html#shop.cheap" in made["index.html"].links
    assert "shop.cheap" in made["shop.html"].ids
    for words in ("It is cheap.", "it was cheap"):
        assert words in made["index.html"].text
        assert words in made["shop.html"].text
    for words in ("Two ways of paying.", "test_shop.py:7", "It contradicts itself.", "other data", "seeds = 5"):
        assert words in made["shop.html"].text


def test_printed_stands_beside_measured(tmp_path):
    """With the agreement, and by how much it moved."""
    evidence = evidence_for(printed={"price": "1.0", "speed": "10"})
    evidence.figure("price", 1.04)
    evidence.figure("speed", 13)
    made = pages(tmp_path, a_ledger(a_row(evidence=evidence)))
    for page in made.values():
        assert re.search(r"price (printed )?1.0 (measured )?1.04 exact", page.text)
        assert re.search(r"speed (printed )?10 (measured )?13 moved by \+3", page.text)


def test_a_figure_that_is_not_compared_says_why(tmp_path):
    """A printed figure stands on the page also where no test holds anything against it."""
    claim = a_claim(printed={"price": "9.5"}, exempt_figures={"price": "of another shop"})
    made = pages(tmp_path, a_ledger(a_row()), found=claims_of(claim))
    assert "price 9.5 not compared: of another shop" in made["shop.html"].text


def test_a_figure_that_the_post_does_not_print_is_called_required(tmp_path):
    """And a stated number is shown without the sign that marks it in the data."""
    claim = a_claim(required={"answer": "=42"})
    evidence = Evidence(claim)
    evidence.figure("answer", 42)
    made = pages(tmp_path, a_ledger(a_row(evidence=evidence)), found=claims_of(claim))
    assert "answer required 42 measured 42 exact" in made["index.html"].text
    assert "answer 42 required 42 exact" in made["shop.html"].text


def test_a_long_list_of_figures_is_cut_in_the_table_and_whole_in_the_topic(tmp_path):
    """The table says how many more there are."""
    evidence = evidence_for(printed={f"f{i}": "1" for i in range(5)})
    for i in range(5):
        evidence.figure(f"f{i}", 1)
    made = pages(tmp_path, a_ledger(a_row(evidence=evidence)))
    assert "2 more figures" in made["index.html"].text
    assert "f4" not in made["index.html"].text
    assert "f4" in made["shop.html"].text


def test_claims_without_evidence_and_exempt_ones_are_listed(tmp_path):
    """With what is printed, or the reason for the exemption."""
    known = claims_of(a_claim("shop.dear", printed={"price": "9.5"}), a_claim("shop.odd", exempt="a joke"))
    made = pages(tmp_path, found=known)
    assert "9.5" in made["index.html"].text
    assert "a joke" in made["index.html"].text
    assert "1 of 3 claims have evidence here" in made["index.html"].text
    assert "9.5" in made["shop.html"].text


def test_a_claim_that_is_gone_is_shown_from_the_ledger(tmp_path):
    """Its sentence is lost, its verdict is not."""
    made = pages(tmp_path, a_ledger(a_row("old.gone", "refuted")), found=claims_of(a_claim()))
    assert "No longer among the claims" in made["old.html"].text


def test_what_is_not_as_declared_comes_first(tmp_path):
    """With the verdict, the declaration and the reason."""
    made = pages(tmp_path, a_ledger(a_row(verdict="refuted", reason="1 is not 2")))
    text = made["index.html"].text
    assert "1 did not come out as declared." in text
    assert re.search(r"shop.cheap refuted declared holds 1 is not 2", text)
    assert "Every one came out as was last understood." in pages(tmp_path)["index.html"].text


def test_samples_are_shown_with_their_numbers(tmp_path):
    """And the statistic with its interval, and what it could have seen."""
    evidence = evidence_for()
    evidence.above([1.0, 2.0, 3.0, 2.5, 1.5, 2.2], 0.0, label="gain")
    conclusion = evidence.conclude()
    row = {**a_row(evidence=evidence), "statistic": conclusion.statistic(), "verb": "above"}
    made = pages(tmp_path, a_ledger(row))
    assert re.search(r"gain 1, 2, 3, 2.5, 1.5, 2.2 6 1 2.1 3", made["shop.html"].text)
    assert re.search(r"2.033, 95% interval 1 to 3, 6 units; could have seen", made["shop.html"].text)


def test_several_environments_make_a_matrix(tmp_path):
    """A column each; what differs comes first, and each has its own evidence in the topic."""
    one, other = (
        a_ledger(a_row(), a_row("shop.same")),
        a_ledger(
            a_row(verdict="refuted", declared="refuted", reason="dear there"), a_row("shop.same"), python="3.13.1"
        ),
    )
    made = pages(tmp_path, one, other)
    text = made["index.html"].text
    assert "1 claim came out differently in different environments." in text
    assert re.search(r"claim A, 2 cores, Python 3.11.7 A, 2 cores, Python 3.13.1 shop.cheap holds refuted", text)
    assert "dear there" in made["shop.html"].text
    assert "Across environments" not in pages(tmp_path, one)["index.html"].text


def test_the_environment_is_told(tmp_path):
    """Machine, Python, libraries, ledger and how complete it is."""
    row = {**a_row(), "fingerprint": {"hash": "ab" * 32, "distributions": {"numpy": "2.4.6"}}}
    text = pages(tmp_path, a_ledger(row, name="of-today.json"))["index.html"].text
    for words in ("A, 2 cores", "3.11.7", "numpy 2.4.6", "of-today.json", "complete, 1 claims", "commit 0000000000"):
        assert words in text


def test_a_run_that_was_cut_short_says_so(tmp_path):
    """At the top of the first page."""
    cut = a_ledger(a_row())
    cut.block.update(partial=True, selection=["shop.cheap", "shop.dear"])
    assert "The run of a.json was cut short: partial, 1 of 2." in pages(tmp_path, cut)["index.html"].text


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_there_ever_was_is_shown(tmp_path, path):
    """With a claim of each verdict."""
    made = pages(tmp_path, ledger.read(path))
    assert set(map(str, Verdict)) <= set(made["index.html"].text.split(" ")) | {"within noise", "not run"}
    assert all((page.faults, page.open) == ([], []) for page in made.values())


# --- whatever a ledger or a claim holds ---------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip))
def test_no_text_can_break_a_page(tmp_path_factory, text):
    """Signs that mean something in HTML are text."""
    folder = tmp_path_factory.mktemp("site")
    claim = a_claim(says=text, note=f"<script>{text}</script>")
    made = pages(folder, a_ledger(a_row(reason=text)), found=claims_of(claim))
    for page in made.values():
        assert (page.faults, page.open) == ([], [])
        assert " ".join(text.split()) in page.text


def test_a_topic_called_index_does_not_take_the_first_pages_place(tmp_path):
    """The table of all claims is index.html."""
    made = pages(tmp_path, a_ledger(a_row("index.cheap")), found=claims_of(a_claim()))
    assert "All claims" in made["index.html"].text
    assert "index.cheap" in made["topic-index.html"].ids
    assert "topic-index.html#index.cheap" in made["index.html"].links


# --- the site as a whole ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference_site(tmp_path_factory):
    """The pages of the committed reference ledger, with this project's claims."""
    texts, site = a_site(
        tmp_path_factory.mktemp("reference"),
        ledger.read(REFERENCE),
        found=catalogue.read(ROOT / "claims"),
        root=ROOT / "claims",
    )
    return texts, site


def test_every_link_leads_somewhere(reference_site):
    """To a page that was written and an id that is there; no id stands twice on a page."""
    made = {name: Page(text) for name, text in reference_site[0].items()}
    for name, page in made.items():
        assert len(page.ids) == len(set(page.ids)), name
        for link in page.links:
            target, _, anchor = link.partition("#")
            assert target in ("", *made), link
            assert not anchor or anchor in made[target or name].ids, link


def test_every_page_is_well_formed_and_fetches_nothing(reference_site):
    """Each element is closed where it should be; the only thing linked is an empty icon."""
    for name, text in reference_site[0].items():
        page = Page(text)
        assert (page.faults[:3], page.open) == ([], []), name
        assert set(page.fetched) == {"data:,"}, name
        assert "@import" not in text
        assert "url(" not in re.sub(r"url\(#\w+\)", "", text)


def test_every_claim_of_the_project_is_on_the_first_page(reference_site):
    """Also those that no ledger holds."""
    assert set(catalogue.read(ROOT / "claims").claims) <= set(Page(reference_site[0]["index.html"]).ids)


def test_a_page_of_eight_hundred_claims_stays_small(tmp_path):
    """Below three megabytes, the first page and each topic's."""
    large, known = many(800)
    _, site = a_site(tmp_path, large, found=known)
    assert max(site.pages.values()) < 3e6
    assert len(json.dumps(large.document)) > 1e6


def test_a_plot_is_drawn_where_the_ledger_has_its_numbers(tmp_path):
    """With its numbers as text; where it lacks them the command is told."""
    topic = tmp_path / "claims" / "shop"
    topic.mkdir(parents=True)
    head = 'title = "Prices"\nkind = "curves"\nclaim = "shop.cheap"\nx = [1, 2]\n'
    (topic / "plots.toml").write_text(
        f'[there]\n{head}series.ours = {{ sample = "s" }}\n[gone]\n{head}series.ours = {{ sample = "t" }}\n'
    )
    texts, site = a_site(tmp_path, a_ledger({**a_row(), "samples": {"s": [4.0, 5.0]}}))
    assert texts["shop.html"].count('class="chart"') == 1
    assert re.search(r"Its numbers ours 1 4 2 5", Page(texts["shop.html"]).text)
    assert site.lacking == {"shop.gone": "shop.cheap keeps no sample 't'"}


def test_a_wrong_plot_is_refused(tmp_path):
    """Its declaration is the project's own fault and is named."""
    (tmp_path / "claims" / "shop").mkdir(parents=True)
    (tmp_path / "claims" / "shop" / "plots.toml").write_text("[one]\n")
    with pytest.raises(ClaimError, match=r"plots\.toml: one: `title` is missing"):
        a_site(tmp_path)


@pytest.mark.parametrize("topic", sorted(path.parent.name for path in (ROOT / "claims").glob("*/plots.toml")))
def test_the_projects_plots_read_claims_that_exist(topic):
    """Every declaration is one, and names claims of the catalogue; a topic still to come may have its plots first."""
    known = set(catalogue.read(ROOT / "claims").claims)
    wanted = {id_ for plot in load(ROOT / "claims" / topic) for id_ in plot.claims}
    assert wanted
    if (ROOT / "claims" / topic / "claims.toml").exists():
        assert wanted - known == set()


def test_the_reference_ledger_draws_the_ladder(reference_site):
    """Gaps fix by fix, causes and histogram, from the committed ledger."""
    assert reference_site[0]["itl.html"].count('class="chart"') >= 3


def test_one_ledger_is_a_page_of_its_own(tmp_path, monkeypatch):
    """For whoever wants it without a command; claims are those of the folder one is in, if any."""
    monkeypatch.chdir(tmp_path)
    write_page(a_ledger(a_row()), tmp_path / "night")
    assert (tmp_path / "night" / "index.html").is_file()
    assert (tmp_path / "night" / "shop.html").is_file()


# --- small plots --------------------------------------------------------------------------------------------------


def test_a_ratio_is_held_against_what_was_promised():
    """Anything else against no effect."""
    row = {**a_row(), "verb": "ratio", "settings": {"log ratio": {"rule": {"promised": 1.2}}}}
    assert reference(row) == 1.2
    assert reference({**a_row(), "verb": "ratio", "settings": {}}) == 1.0
    assert reference({**a_row(), "verb": "above", "settings": {"threads": 1}}) == 0.0
