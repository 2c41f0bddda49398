"""The one exception a user is meant to read: a sentence with the cause and the way out."""


class UserError(ValueError):
    """Something the user can put right. The command line prints it without a traceback and exits with code 2."""
