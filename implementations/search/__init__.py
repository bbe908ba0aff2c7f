"""Hyperparameter search: spaces, grids, random search, surrogates, Parzen estimators and pruning."""
