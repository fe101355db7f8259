"""The functions with which the commands of libcst's tool edit a file; art_adapt puts its own here.

The tool hands a command one file. Only a survey can tell where hooks belong in it, and the codemods know nothing of
surveys. So art_adapt fills these in when it is imported, which Python does before it imports any of the codemods. They
take a file's path and bytes, and raise ``libcst.codemod.SkipFile`` for a file that they cannot edit.
"""

from __future__ import annotations

from collections.abc import Callable

add_hooks: Callable[[str, bytes, str], bytes]  # the last is the hook's name
remove_hooks: Callable[[str, bytes], bytes]
