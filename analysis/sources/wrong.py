"""A choice that cannot be had, from an address or a command."""

from __future__ import annotations


class WrongChoice(ValueError):
    """`names` are the choices that are wrong, as an address has them; the message says what they could have been."""

    def __init__(self, message: str, *names: str):
        super().__init__(message)
        self.names = names
