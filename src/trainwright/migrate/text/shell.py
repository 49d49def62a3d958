"""Read shell text: commands, assignments and uses of variables, with the bytes of each.

A tolerant reader, not a shell: it knows words, quotes, expansions, comments, here-documents and continuations. What it
does not know it passes over; it never fails. Text of here-documents is not commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from trainwright.migrate.text.content import Assignment, Command, TextContent, Use, Word
from trainwright.migrate.text.shell_words import command_parts

_BLANK = " \t\r"
_BREAKS = "\n;&|(){}"
_META = frozenset(" \t\r\n;&|()<>")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Words that begin or join commands; what follows is a command of its own.
_KEYWORDS = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "time", "{", "}"})
_MOST_DEPTH = 40


@dataclass
class _Heredoc:
    delimiter: str
    quoted: bool


@dataclass
class _Found:
    commands: list[Command] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)


def read_shell(text: str, start: int = 0, end: int | None = None, *, container: bool = False) -> TextContent:
    """The commands in a part of raw text.

    With `container` a comment line between continued lines does not end the command, as in a Dockerfile.
    """
    reader = ShellReader(text, start, len(text) if end is None else end, container=container)
    reader.read()
    found = reader.found
    return TextContent(commands=tuple(found.commands), assignments=tuple(found.assignments), uses=tuple(found.uses))


class ShellReader:
    """Reads from `at` to `end`; nested commands are read by the same reader."""

    def __init__(self, text: str, start: int, end: int, *, container: bool) -> None:
        self.text = text
        self.at = start
        self.end = end
        self.found = _Found()
        self._container = container
        self._heredocs: list[_Heredoc] = []
        self._depth = 0

    def read(self, stop: str = "", *, captured: bool = False) -> None:
        """Read commands up to the character `stop`, which is consumed."""
        self._depth += 1
        words: list[Word] = []
        while self.at < self.end:
            char = self.text[self.at]
            if char == stop:
                self.at += 1
                break
            if self._skip_space():
                continue
            if char == "#":
                self._comment()
            elif char in "<>":
                self._redirect()
            elif char in _BREAKS and not self._is_brace_word(char):
                self._close(words, captured=captured, piped=char == "|" and self.text[self.at : self.at + 2] != "||")
                words = []
                self._break(char, captured=captured)
            else:
                word = self._word()
                if not self._is_descriptor(word) and (words or word.text not in _KEYWORDS):
                    words.append(word)
        self._close(words, captured=captured, piped=False)
        self._depth -= 1

    def _is_brace_word(self, char: str) -> bool:
        """A brace that is part of a word: ``{a,b}``, ``{}``."""
        if char not in "{}":
            return False
        return self.text[self.at + 1 : self.at + 2].strip() not in ("", ";")

    def _break(self, char: str, *, captured: bool) -> None:
        self.at += 1
        if char == "\n":
            self._bodies()
        elif char == "(" and self._depth < _MOST_DEPTH:
            self.read(")", captured=captured)

    def _is_descriptor(self, word: Word) -> bool:
        """The number in ``2>&1``."""
        return word.text.isdecimal() and self.text[self.at : self.at + 1] in ("<", ">") and word.end == self.at

    def _skip_space(self) -> bool:
        char = self.text[self.at]
        if char in _BLANK:
            self.at += 1
            return True
        if char == "\\" and (
            match := re.compile(r"\\[ \t]*\r?\n" if self._container else r"\\\r?\n").match(self.text, self.at, self.end)
        ):
            self.at = match.end()
            if self._container:
                self._container_comments()
            return True
        return False

    def _container_comments(self) -> None:
        pattern = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:[ \t]*#[^\n]*\r?\n)")
        if match := pattern.match(self.text, self.at, self.end):
            self.at = match.end()

    def _comment(self) -> None:
        found = self.text.find("\n", self.at, self.end)
        self.at = self.end if found < 0 else found

    def _redirect(self) -> None:
        text = self.text
        if text.startswith(("<(", ">("), self.at) and self._depth < _MOST_DEPTH:
            self.at += 2
            self.read(")", captured=True)
            return
        if text.startswith("<<", self.at) and not text.startswith("<<<", self.at):
            self.at += 3 if text.startswith("<<-", self.at) else 2
            while self._skip_target_space():
                pass
            if self.at < self.end and text[self.at] not in _META:
                word = self._word()
                quoted = word.end - word.start != len(word.text)
                self._heredocs.append(_Heredoc(word.text, quoted))
            return
        while self.at < self.end and text[self.at] in "<>&|":
            self.at += 1
        while self._skip_target_space():
            pass
        if self.at < self.end and text[self.at] not in _META:
            self._word()

    def _skip_target_space(self) -> bool:
        return self.at < self.end and self._skip_space()

    def _bodies(self) -> None:
        """Here-documents begin after the line that asks for them."""
        pending, self._heredocs = self._heredocs, []
        for heredoc in pending:
            first = self.at
            while self.at < self.end:
                stop = self.text.find("\n", self.at, self.end)
                line_end = self.end if stop < 0 else stop
                line = self.text[self.at : line_end].strip()
                body_end, self.at = self.at, min(line_end + 1, self.end)
                if line == heredoc.delimiter:
                    break
            else:
                body_end = self.at
            if not heredoc.quoted:
                self._plain_uses(first, body_end)

    def _plain_uses(self, start: int, end: int) -> None:
        for match in re.compile(r"(?<!\\)\$\{?([A-Za-z_]\w*)").finditer(self.text, start, end):
            self.found.uses.append(Use(name=match.group(1), start=match.start(1), end=match.end(1)))

    def _close(self, words: list[Word], *, captured: bool, piped: bool) -> None:
        if not words:
            return
        assignments, uses, rest = command_parts(words, self.text)
        self.found.assignments += assignments
        self.found.uses += uses
        if rest:
            self.found.commands.append(Command(words=tuple(rest), piped=piped, captured=captured))

    def _word(self) -> Word:
        start, parts, literal, plain = self.at, [], True, True
        quote_start = quote_end = -1
        while self.at < self.end and self.text[self.at] not in _META:
            char = self.text[self.at]
            if char == "\\":
                if self.text.startswith(("\n", "\r\n"), self.at + 1):
                    break
                parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
                plain = False
            elif char in "'\"":
                quote_start = self.at if self.at == start else quote_start
                text, sure = self._quoted(char)
                quote_end = self.at
                parts.append(text)
                literal &= sure
                plain &= quote_start == start
            elif char in "$`":
                begin = self.at
                self._expansion()
                parts.append(self.text[begin : self.at])
                literal = False
            else:
                parts.append(char)
                self.at += 1
        opens = self.at < self.end and self.text[self.at] == "("
        if opens and parts and parts[-1] == "=" and self._depth < _MOST_DEPTH:
            return self._array(start, "".join(parts))
        return self._made(start, "".join(parts), (quote_start, quote_end), literal=literal, plain=plain)

    def _made(self, start: int, text: str, quote: tuple[int, int], *, literal: bool, plain: bool) -> Word:
        """The word, with the place of its text where the file holds it in one piece."""
        inner = -1
        if quote == (-1, -1) and plain:
            inner = start
        elif quote == (start, self.at):
            inner = start + 1
        if inner >= 0 and self.text[inner : inner + len(text)] != text:
            inner = -1
        return Word(text=text, start=start, end=self.at, inner=inner, literal=literal)

    def _array(self, start: int, lead: str) -> Word:
        """``NAME=(words)``: an assignment whose value is a list; the words are read again by `command_parts`."""
        self.at += 1
        before = len(self.found.commands)
        self.read(")")
        del self.found.commands[before:]
        return Word(text=lead + self.text[start + len(lead) : self.at], start=start, end=self.at, literal=False)

    def _quoted(self, quote: str) -> tuple[str, bool]:
        """The text between quotes, and whether it has no expansions."""
        self.at += 1
        begin, literal, parts = self.at, True, []
        if quote == "'":
            stop = self.text.find("'", self.at, self.end)
            stop = self.end if stop < 0 else stop
            self.at = min(stop + 1, self.end)
            return self.text[begin:stop], True
        while self.at < self.end and self.text[self.at] != '"':
            char = self.text[self.at]
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                parts.append(following if following in '"\\$`' else "" if following == "\n" else char + following)
                self.at += 2
            elif char in "$`":
                first = self.at
                self._expansion()
                parts.append(self.text[first : self.at])
                literal = False
            else:
                parts.append(char)
                self.at += 1
        self.at = min(self.at + 1, self.end)
        return "".join(parts), literal

    def _expansion(self) -> None:
        text = self.text
        if text[self.at] == "`" and self._depth < _MOST_DEPTH:
            stop = text.find("`", self.at + 1, self.end)
            stop = self.end if stop < 0 else stop
            self._nested(self.at + 1, stop)
            self.at = min(stop + 1, self.end)
        elif text.startswith("$((", self.at):
            self._arithmetic()
        elif text.startswith("$(", self.at) and self._depth < _MOST_DEPTH:
            self.at += 2
            self.read(")", captured=True)
        elif text.startswith("${", self.at) and self._depth < _MOST_DEPTH:
            self._depth += 1
            self._braces()
            self._depth -= 1
        elif match := _NAME.match(text, self.at + 1, self.end):
            self._use(match)
            self.at = match.end()
        elif text.startswith("$'", self.at):
            self.at += 1
            self._quoted("'")
        else:
            self.at += 2 if text[self.at + 1 : self.at + 2] in tuple("0123456789@*#?$!-") else 1
            self.at = min(self.at, self.end)

    def _use(self, match: re.Match[str]) -> None:
        self.found.uses.append(Use(name=match.group(), start=match.start(), end=match.end()))

    def _nested(self, start: int, end: int) -> None:
        inner = ShellReader(self.text, start, end, container=self._container)
        inner.found = self.found
        inner._depth = self._depth
        inner.read(captured=True)

    def _arithmetic(self) -> None:
        stop = self.text.find("))", self.at, self.end)
        stop = self.end if stop < 0 else stop + 2
        self._plain_uses(self.at, stop)
        self.at = stop

    def _braces(self) -> None:
        """``${NAME}``, ``${NAME:-default}``, ``${#NAME}``, ``${!NAME}``."""
        self.at += 2
        while self.at < self.end and self.text[self.at] in "#!":
            self.at += 1
        if match := _NAME.match(self.text, self.at, self.end):
            self._use(match)
            self.at = match.end()
        while self.at < self.end and self.text[self.at] != "}":
            char = self.text[self.at]
            if char in "'\"":
                self._quoted(char)
            elif char in "$`":
                self._expansion()
            else:
                self.at += 2 if char == "\\" else 1
        self.at = min(self.at + 1, self.end)
