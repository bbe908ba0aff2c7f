from hypothesis import settings

pytest_plugins = ["pytester"]

# On a busy machine an example may take longer than hypothesis likes; no test here is about that.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
