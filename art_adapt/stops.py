"""Ends a run with a message, and with what has to change."""

from __future__ import annotations


class Stop(SystemExit):
    """Ends the program with a message.

    ``at``: the row that is wrong, as ``FILE:LINE``. ``constant``: that of the train module.
    """

    def __init__(self, message: str, *, at: str = "", constant: str = "") -> None:
        super().__init__(message)
        self.at, self.constant = at, constant
