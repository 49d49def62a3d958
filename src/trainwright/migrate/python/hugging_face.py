"""Calls of Hugging Face libraries: which ones load a model, and the switches they take."""

from __future__ import annotations

import ast

from trainwright.migrate.python.module import NameRef, PythonFile

#: Packages whose classes have ``from_pretrained`` and configurations as transformers has.
LOADERS = ("transformers.*", "diffusers.*", "peft.*", "trl.*", "optimum.*", "sentence_transformers.*", "llava.*")
LOADING = ("from_pretrained", "from_config")


def switch(call: ast.Call | None, name: str) -> ast.keyword | None:
    """The argument of a call with this name, unless it is written as False or None."""
    if call is None:
        return None
    found = next((keyword for keyword in call.keywords if keyword.arg == name), None)
    off = found is not None and isinstance(found.value, ast.Constant) and found.value.value in (False, None)
    return None if off else found


def loading_call(ref: NameRef | ast.Attribute, file: PythonFile) -> ast.Call | None:
    """The call when a reference or a method loads a model; None otherwise."""
    if isinstance(ref, NameRef):
        return ref.call if ref.name.rpartition(".")[2] in LOADING else None
    return file.call_of(ref)
