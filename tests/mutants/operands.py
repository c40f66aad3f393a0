# SPDX-License-Identifier: Apache-2.0
"""Makes mutants of a C file by itself, from its text: each operand alone.

The table's mutants are copies of the tree; these are all compiled at once, into
one text where chosen.h tells at run time which of them is meant."""

import os
import re

TOKEN = re.compile(r"""^[ \t]*\#(?:\\\n|[^\n])*|/\*.*?\*/|//[^\n]*|\s+
    |(?P<token>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*
    |->|\+\+|--|&&|\|\||<<=?|>>=?|[-<>=!+*/%&|^]=|.)""", re.S | re.M | re.X)
BRACKETS = {"(": ")", "[": "]", "{": "}"}
ASSIGN = {"=", "+=", "-=", "|=", "&=", "*=", "/=", "<<=", ">>=", "^=", "%="}
# What ends an operand of "?", of "||", and of what binds stronger.
OUTER = ASSIGN | {",", ";", "?", ":", "{", "}", "return", "else", "case", "do"}
OPERAND = {"?": OUTER, "||": OUTER | {"||"}, "&&": OUTER | {"||", "&&"}}
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "", "!=": ""}
# A statement that begins so is no call and no assignment, or is seen by other
# tools only: by those for leaks, locks and races.
NO_STATEMENT = set("if for while do switch return goto case default static const struct enum union "
                   "int char bool unsigned".split())
UNSEEN = re.compile(r"(\(void\))?\w*(free|log|logf|assert|ref|destroy|_done|probe|(session|mtx)_(un)?lock)"
                    r"(_locked|_unlocks)?\(", re.I)


class Change:
    """The text from `begin` to `end` becomes `new`."""

    def __init__(self, begin, end, new, what, form="({0} ? ({1}) : ({2}))"):
        self.begin, self.end, self.new, self.what, self.form = begin, end, new, what, form


class Source:
    def __init__(self, text):
        self.text = text
        self.at = [m.span("token") for m in TOKEN.finditer(text) if m["token"]]
        self.t = [text[b:e] for b, e in self.at]
        self.partner, self.changes, stack = {}, {}, []
        self.bodies = []  # of functions
        for i, t in enumerate(self.t):
            if t in BRACKETS:
                stack.append(i)
            elif t in BRACKETS.values() and stack:
                j = stack.pop()
                self.partner[i], self.partner[j] = j, i
                if t == "}" and not stack and (self.t[j - 1] == ")" or self.t[j - 2] == ")"):
                    self.bodies.append((j, i))
        for begin, end in self.bodies:
            self.body(begin, end)

    def change(self, first, last, new, what, **form):
        span = (self.at[first][0], self.at[last][1])
        old = " ".join(self.text[slice(*span)].split())
        self.changes.setdefault((*span, new), Change(*span, new, what.format(old), **form))

    def always(self, first, last, *values):
        for value in values:
            self.change(first, last, value, "'{}' is " + ("always true" if value == "1" else "never true"),
                        form="({0} ? {1} : !!({2}))")

    def operand(self, i, step, stops):
        """The token where the operand ends that begins beside token i."""
        brackets = BRACKETS if step > 0 else BRACKETS.values()
        closed = BRACKETS.values() if step > 0 else BRACKETS
        j = i + step
        while self.t[j] not in closed and self.t[j] not in stops:
            j = self.partner[j] + step if self.t[j] in brackets else j + step
        return j - step

    def is_block(self, i):
        before = self.t[i - 1]
        return before in (";", "{", "}", "else", "do", ":") or any(b == i for b, _ in self.bodies) or (
            before == ")" and self.t[self.partner[i - 1] - 1] in ("if", "for", "while", "switch"))

    def body(self, begin, end):
        for i in range(begin + 1, end):
            t, before = self.t[i], self.t[i - 1]
            if t in ("if", "while") and self.t[i + 1] == "(":
                self.condition(i + 2, self.partner[i + 1] - 1, t)
            elif t == "for":
                self.loop(i + 2, self.partner[i + 1] - 1)
            elif t == "?":
                self.condition(self.operand(i, -1, OUTER), i - 1, t)
            elif t in ("&&", "||"):
                left_out = "1" if t == "&&" else "0"
                self.always(self.operand(i, -1, OPERAND[t]), i - 1, left_out)
                self.always(i + 1, self.operand(i, 1, OPERAND[t]), left_out)
            elif t in COMPARE:
                self.comparison(i, self.operand(i, -1, OPERAND["&&"]), self.operand(i, 1, OPERAND["&&"]))
            elif t == "1" and before in "+-" and self.t[i - 2] not in OUTER | set(BRACKETS) | {"&&", "||"}:
                self.change(i, i, "0", before + " 1 is left out in '" + self.around(i) + "'")
            elif t in ("true", "false") and before in "(,?:" and self.t[i - 2] != "case":
                self.change(i, i, "false" if t == "true" else "true", "{} is the other in '" + self.around(i) + "'")
            elif re.match(r"ZKR_[EZ][A-Z]", t) and before not in ("case", "==", "!="):
                self.change(i, i, "ZKR_EINVAL" if t != "ZKR_EINVAL" else "ZKR_EBUSY", "another error than {} is told")
            elif t == "return" and re.search(r"\brc\b|\bZKR_[EZ][A-Z]|zkr__fail", self.returned(i)):
                self.change(i + 1, self.operand(i, 1, {";"}), "ZKR_OK", "no error is returned instead of '{}'")
            if self.is_statement(i, before):
                self.statement(i)

    def is_statement(self, i, before):
        if before == "{":
            return self.is_block(i - 1)
        if before == ")":
            return self.t[self.partner[i - 1] - 1] in ("if", "for", "while")
        return before in ("else", "do") or before in (";", "}") and not self.in_brackets(i) or (
            before == ":" and (self.t[i - 2] == "default" or self.t[i - 3] == "case"))

    def around(self, i):
        first, last = self.operand(i, -1, OPERAND["&&"]), self.operand(i, 1, OPERAND["&&"])
        return " ".join(self.text[self.at[first][0]:self.at[last][1]].split()).replace("{", "{{").replace("}", "}}")

    def returned(self, i):
        return self.text[self.at[i + 1][0]:self.at[self.operand(i, 1, {";"})][1]]

    def in_brackets(self, i):
        """Is the token in a pair of "(" or of braces that are no block?"""
        j = i - 1
        while self.t[j] not in BRACKETS:
            j = self.partner[j] - 1 if self.t[j] in BRACKETS.values() else j - 1
        return self.t[j] != "{" or not self.is_block(j)

    def condition(self, first, last, kind):
        ops = {self.t[j] for j in self.top(first, last)}
        if kind != "while" and not ("&&" in ops and "||" not in ops):
            self.always(first, last, "1")
        if not ("||" in ops):
            self.always(first, last, "0")

    def top(self, first, last):
        j = first
        while j <= last:
            yield j
            j = self.partner[j] + 1 if self.t[j] in BRACKETS else j + 1

    def comparison(self, i, first, last):
        if self.t[i:i + 1] == ["<"] and self.t[i - 3:i - 1] == ["0", ";"] and self.t[last + 1] == ";":
            self.change(i - 1, i - 1, self.t[i - 1] + " + 1", "the loop '" + self.around(i) + "' has one round less")
        elif COMPARE[self.t[i]]:
            new = (self.text[self.at[first][0]:self.at[i][0]] + COMPARE[self.t[i]]
                   + self.text[self.at[i][1]:self.at[last][1]])
            self.change(first, last, " ".join(new.split()), "'{}' has " + COMPARE[self.t[i]])
        elif self.t[first - 1] in ASSIGN | {"return", ",", ":", "?"}:
            self.always(first, last, "1", "0")

    def loop(self, first, last):
        """It ends after its first round."""
        parts = [j for j in self.top(first, last) if self.t[j] == ";"]
        if len(parts) != 2 or parts[1] == parts[0] + 1 or parts[0] == first:
            return
        name = next((self.t[j - 1] for j in self.top(first, parts[0]) if self.t[j] == "="), None)
        if self.t[parts[0] - 2:parts[0]] == ["=", "0"]:
            text = self.text[self.at[parts[0] + 1][0]:self.at[parts[1] - 1][1]]
            self.change(parts[0] + 1, parts[1] - 1, f"({text}) && {name} < 1", "the loop '{}' has one round")
        elif parts[1] < last and f"{name} != NULL" in self.text[self.at[parts[0]][0]:self.at[parts[1]][1]]:
            self.change(parts[1] + 1, last, f"{name} = NULL", "the loop ends before '{}'")

    def statement(self, i):
        t = self.t[i]
        end = self.operand(i - 1, 1, {";"}) + 1
        text = self.text[self.at[i][0]:self.at[end][1]]
        if (self.t[end] != ";" or t in NO_STATEMENT | set(BRACKETS.values()) | {"{", ";", "else"}
                or UNSEEN.match("".join(text.split()))):
            return
        ops = {self.t[j] for j in self.top(i, end)}
        declared = t[0].isalpha() and (self.t[i + 1][0].isalpha() or self.t[i + 1] == "*")
        call = re.match(r"(\(void\)\s*)?!?\w[\w.>-]*\s*\(", text)
        if t in ("break", "continue") or not declared and (ops & (ASSIGN | {"++", "--"}) or call):
            self.change(i, end, ";", "'{}' is left out", form="if ({0}) {1} else {2}")


def make(text):
    """The changes, sorted."""
    return sorted(Source(text).changes.values(), key=lambda c: (c.begin, -c.end))


def record(text, file, change, name):
    """As in the table, with so much around it that the old text is there once."""
    squeezed, begin, end = "".join(text.split()), change.begin, change.end
    while squeezed.count("".join(text[begin:end].split())) > 1 and (begin, end) != (0, len(text)):
        begin, end = max(0, text.rfind("\n", 0, begin)), (text + "\n").find("\n", end + (begin % 2))
    lines = text[begin:end].split(), (text[begin:change.begin] + change.new + text[change.end:end]).split()
    return f"@ {file}\n{name}: {change.what[:150]}.\n- {' '.join(lines[0])}\n+ {' '.join(lines[1])}"


def at_once(text, numbered, begin=0, end=None):
    """The text with all of `numbered`, [(number, change)], where spans are nested."""
    end, out = len(text) if end is None else end, ""
    while numbered:
        first = numbered[0][1]
        same = [n for n in numbered if (n[1].begin, n[1].end) == (first.begin, first.end)]
        inner = [n for n in numbered[len(same):] if n[1].end <= first.end]
        old = at_once(text, inner, first.begin, first.end)
        for number, change in same:
            old = change.form.format(f"zkr__mutant({number})", " ".join(change.new.split()), old)
        out += text[begin:first.begin] + old
        begin, numbered = first.end, [n for n in numbered[len(same):] if n[1].begin >= first.end]
    return out + text[begin:end]


