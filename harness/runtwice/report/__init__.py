"""The pages people look at: ledgers and the claims they judged, as HTML that needs no network.

Only this room imports Jinja and Matplotlib; `pip install 'runtwice[report]'` brings both, and without them importing it
is an ImportError.
"""

from runtwice.report.site import Site, write_page, write_site

__all__ = ["Site", "write_page", "write_site"]
