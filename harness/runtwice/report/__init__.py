"""The pages people look at: ledgers and the claims they judged, as HTML that needs no network.

Only this room imports Jinja and Matplotlib; `pip install 'runtwice[report]'` brings both.
"""
