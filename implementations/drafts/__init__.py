"""Predicting matches from drafts: synthetic worlds, a signed bag of heroes, and a network that may know the rank."""
