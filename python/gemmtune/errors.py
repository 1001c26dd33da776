"""What goes wrong in this package."""


class Error(RuntimeError):
    """A request that failed. The message is one line that says what to do."""


class UsageError(Error, ValueError):
    """A request that is wrong, or not possible on this machine; nothing was changed."""
