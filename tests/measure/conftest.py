from tests.support import one_thread  # noqa: F401
