"""The pages in a real browser: a Chromium that is installed, driven by Playwright.

Skipped where either is missing: `pip install 'runtwice[browser]'`, and a Chromium from the system's packages (or its
path in CHROMIUM).
"""

import os
import re
import shutil
from urllib.parse import urlsplit

import pytest

from runtwice import catalogue, ledger
from tests.harness.builders import a_claim, a_row
from tests.harness.report.builders import REFERENCE, ROOT, a_ledger, a_site, claims_of, many

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'runtwice[browser]'")
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium: apt-get install chromium, or set CHROMIUM")

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the pages of the reference ledger."""
    folder = tmp_path_factory.mktemp("site")
    a_site(folder, ledger.read(REFERENCE), found=catalogue.read(ROOT / "claims"), root=ROOT / "claims")
    return folder / "site"


@pytest.fixture(scope="module")
def large_site(tmp_path_factory):
    """The pages of eight hundred claims."""
    folder = tmp_path_factory.mktemp("large")
    found, known = many(800)
    a_site(folder, found, found=known)
    return folder / "site"


@pytest.fixture
def visit(browser):
    """Opens a page; in the end it must have said nothing on the console and asked for nothing but files of the site."""
    contexts, faults = [], []

    def go(folder, page="index.html", **options):
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: faults.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: faults.append(f"script: {error}"))
        tab.on("request", lambda request: faults.extend(_strange(request.url, folder)))
        tab.goto((folder / page.partition("?")[0].partition("#")[0]).as_uri() + page[len(_path(page)) :])
        return tab

    yield go
    for context in contexts:
        context.close()
    assert faults == []


def _path(page):
    return page.partition("?")[0].partition("#")[0]


def _strange(url, folder):
    parts = urlsplit(url)
    fine = parts.scheme == "data" or (parts.scheme == "file" and parts.path.startswith(str(folder)))
    return [] if fine else [f"request: {url}"]


def visible(tab):
    """The ids of the claims that are shown, in their order."""
    return tab.eval_on_selector_all("#table tbody tr:not([hidden])", "rows => rows.map(row => row.id)")


def said(tab):
    """What is announced of how many are shown, to be waited for."""
    return sync_api.expect(tab.locator("#shown"))


def test_search_finds_words_of_a_claim_and_ids(site, visit):
    """All words must occur; the number that is left is announced."""
    tab = visit(site)
    everything = visible(tab)
    tab.fill("#q", "label tie")
    said(tab).to_contain_text(" of ")
    found = visible(tab)
    assert "itl.adversarial.label-ties-and-thresholds" in found
    assert 0 < len(found) < 20
    said(tab).to_have_text(f"{len(found)} of {len(everything)} claims.")
    tab.fill("#q", "")
    said(tab).not_to_contain_text(" of ")
    assert visible(tab) == everything


def test_filters_narrow_by_verdict_topic_and_agreement(site, visit):
    """Two verdicts are either of them; topic and verdict are both."""
    tab = visit(site)
    tab.check("input[name=state][value=refuted]")
    refuted = set(visible(tab))
    tab.check("input[name=state][value=undecided]")
    both = set(visible(tab))
    assert refuted < both
    tab.select_option("#topic", "grid")
    assert visible(tab) == []
    tab.click("button[type=reset]")
    said(tab).not_to_contain_text(" of ")
    tab.check("input[name=agreement][value=moved]")
    kinds = tab.eval_on_selector_all("#table tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.agreement)")
    assert set(kinds) == {"moved"}


def test_the_choice_is_in_the_address(site, visit):
    """A link with a search and a verdict shows what was sent."""
    tab = visit(site)
    tab.check("input[name=state][value=refuted]")
    tab.fill("#q", "itl")
    sync_api.expect(tab).to_have_url(re.compile("q=itl"))
    again = visit(site, "index.html" + tab.evaluate("location.search"))
    assert visible(again) == visible(tab)
    assert again.is_checked("input[name=state][value=refuted]")


def test_columns_sort_both_ways(site, visit):
    """By cost from cheap to dear and back, by verdict from the worst; what has no value stays last."""
    tab = visit(site)
    for key, expected in (("cost", "ascending"), ("cost", "descending"), ("state", "ascending"), ("id", "ascending")):
        tab.click(f"th[data-key={key}] button")
        assert tab.get_attribute(f"th[data-key={key}]", "aria-sort") == expected
        if key == "cost":
            costs = tab.eval_on_selector_all("#table tbody tr", "rows => rows.map(row => row.dataset.cost)")
            numbers = [float(cost) for cost in costs if cost]
            assert numbers == sorted(numbers, reverse=expected == "descending")
            assert "" not in costs[: len(numbers)]
    assert tab.eval_on_selector_all("th[aria-sort]", "heads => heads.length") == 1
    assert visible(tab) == sorted(visible(tab))


def test_everything_works_from_the_keyboard(site, visit):
    """The first stop skips to the claims; a column is sorted with the space bar, a claim is opened with Enter."""
    tab = visit(site)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the claims"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "claims"
    tab.focus("th[data-key=cost] button")
    tab.keyboard.press("Space")
    assert tab.get_attribute("th[data-key=cost]", "aria-sort") == "ascending"
    tab.focus("#table tbody tr:first-child a")
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    assert tab.url.rpartition("/")[2].startswith("itl.html#itl.")


def test_an_anchor_shows_its_claim(site, visit):
    """In its topic, and in the table also where a filter had hidden it."""
    tab = visit(site, "itl.html#itl.label-rule")
    assert tab.is_visible("article:target")
    assert tab.evaluate("document.querySelector('article:target').getBoundingClientRect().top < innerHeight")
    tab = visit(site, "index.html?state=refuted#itl.label-rule")
    row = tab.locator("[id='itl.label-rule']")
    sync_api.expect(row).to_be_visible()
    assert row.bounding_box()["y"] >= tab.locator("#table thead").bounding_box()["height"]


def test_links_lead_to_the_evidence(site, visit):
    """From the table to the claim's section, and back."""
    tab = visit(site)
    with tab.expect_navigation():
        tab.click("[id='itl.label-rule'] a")
    assert tab.is_visible("article:target")
    with tab.expect_navigation():
        tab.click("nav a")
    assert tab.url.endswith("index.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_in_both_schemes(site, visit, scheme):
    """Every kind of text has a contrast of at least 4.5 to what is behind it."""
    ratios = {}
    for page in ("index.html", "itl.html"):
        ratios |= visit(site, page, color_scheme=scheme).evaluate(_CONTRASTS)
    assert ratios
    assert {key: ratio for key, ratio in ratios.items() if ratio < 4.5} == {}


# The lowest contrast of the visible elements that hold text of their own, by tag and class.
_CONTRASTS = """() => {
  const number = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = number(getComputedStyle(one).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !one.checkVisibility() || one.closest("script, style, .skip")) continue;
    const svg = one instanceof SVGElement;
    const style = getComputedStyle(one);
    const [a, b] = [light(number(svg ? style.fill : style.color)), light(behind(one))].sort((x, y) => x - y);
    const key = `${one.tagName.toLowerCase()}.${svg ? "" : one.className}`;
    found[key] = Math.min(found[key] ?? 99, (b + 0.05) / (a + 0.05));
  }
  return found;
}"""


@pytest.mark.parametrize("page", ["index.html", "itl.html"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_reaches_beyond_the_page(site, visit, page, size):
    """No page scrolls sideways; wide tables scroll in their own frame."""
    tab = visit(site, page, viewport=size)
    assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_several_environments_fit_a_phone(tmp_path, visit):
    """The matrix scrolls in its frame."""
    ledgers = [
        a_ledger(a_row(verdict=v, declared=v), cores=n) for n, v in ((1, "holds"), (2, "refuted"), (64, "error"))
    ]
    a_site(tmp_path, *ledgers, found=claims_of(a_claim()))
    tab = visit(tmp_path / "site", viewport=PHONE)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.is_visible(".matrix")


def test_without_javascript_the_table_is_whole(site, visit):
    """All claims in the order of their ids, every link works, and no control that would do nothing."""
    tab = visit(site, java_script_enabled=False)
    assert not tab.is_visible(".controls")
    assert tab.locator("#table tbody tr").count() == len(catalogue.read(ROOT / "claims").claims)
    assert tab.locator("#table tbody tr").first.is_visible()
    assert tab.locator("thead button").count() == 0
    tab.click("[id='itl.label-rule'] a")
    assert tab.locator("article:target").is_visible()


def test_a_table_is_a_table_to_a_screen_reader(site, visit):
    """Rows, headers and cells keep their roles on a phone, where they are laid out as cards."""
    tab = visit(site, viewport=PHONE)
    table = tab.get_by_role("table", name="All claims")
    assert table.get_by_role("row").count() > 100
    assert table.get_by_role("columnheader").count() == 5
    assert table.get_by_role("rowheader").count() > 100
    assert tab.get_by_role("searchbox").count() == 1
    plots = visit(site, "itl.html").locator("svg.chart")
    assert all(plots.nth(i).get_attribute("aria-label") for i in range(plots.count()))


def test_a_printed_page_shows_what_is_folded(site, visit):
    """Details are opened before printing, the controls are left out, and paper is white whatever the scheme."""
    tab = visit(site, color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    assert tab.eval_on_selector_all("details:not([open])", "all => all.length") == 0
    assert not tab.is_visible(".controls")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_eight_hundred_claims_are_there_within_a_second(large_site, visit):
    """Interactive from the start of navigation; a search and a sort well within the same.

    Of several loads the fastest counts: what others do on this machine is no part of the page.
    """
    tabs = [visit(large_site) for _ in range(5)]
    ready = min(tab.evaluate("performance.getEntriesByName('interactive')[0].startTime") for tab in tabs)
    tab = tabs[-1]
    sorting = tab.evaluate(timed("document.querySelector('th[data-key=cost] button').click()"))
    search = "const q = document.querySelector('#q'); q.value = 'gap'; q.form.dispatchEvent(new Event('change'))"
    searching = tab.evaluate(timed(search))
    assert {"ready": ready < 1000, "sort": sorting < 1000, "search": searching < 1000} == {
        "ready": True,
        "sort": True,
        "search": True,
    }, (ready, sorting, searching)


def timed(step):
    """A script that gives the milliseconds that a step takes, its layout included."""
    return f"""() => {{
      const start = performance.now();
      {step};
      document.body.getBoundingClientRect();
      return performance.now() - start;
    }}"""
