"""The methods of the posts, from scratch; nothing here knows of pytest or of the harness."""
