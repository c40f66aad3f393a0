#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the manual pages of section 3 from the headers.

    pages.py DIRECTORY VERSION DATE HEADER...

Each header is a page, zkr_mutex(3) for mutex.h; each function and type in it has
a page that leads there. The text is that of the comments:

  - a comment before a declaration, without a blank line between, belongs to it;
  - "Time", "Threads", "Errors"... and two blanks begin a paragraph with a title;
  - "- " begins an item of a list, "1. " one of a list with numbers;
  - other lines that are indented stay as they are.
"""
import pathlib
import re
import sys
import textwrap

TITLE = re.compile(r'(Time|Threads|Owns|On error|Errors|Source|Example) {2,}(.*)')
ITEM = re.compile(r' *(-|[0-9]+\.) (.*)')
COMMENT = re.compile(r'/\*+<?\s?(.*?)\s*\*/', re.S)
MARKS = re.compile(r'(ZKR_[A-Z]\w+\s+)+')  # of a function
FUNCTION = re.compile(r'\b(zkr_\w+)\s*\(')
NAMES = re.compile(r'^(?:struct|enum) (zkr_\w+) \{|\(\*(zkr_\w+)\)|\b(zkr_\w+);$', re.M)


def page_of(header):
    stem = pathlib.Path(header).stem
    return stem if stem == 'zkrecipes' else 'zkr_' + stem


# -- a header, in parts ------------------------------------------------------

def comment_lines(comment):
    """The text of a comment, without its stars."""
    text = COMMENT.fullmatch(comment).group(1)
    return [re.sub(r'^ ?\* ?', '', line.strip('\n')[1:] if line.startswith(' ') else line)
            for line in text.split('\n')]


def parts(text):
    """Comments and declarations, each as it is written; '' for a blank line."""
    lines = iter(text.split('\n'))
    for line in lines:
        part = [line]
        if line.startswith('/*'):
            while '*/' not in part[-1]:
                part.append(next(lines))
        elif line.startswith('#'):
            while part[-1].endswith('\\'):
                part.append(next(lines))
        elif line.strip():
            end = '}' if line.startswith('ZKR_SHORT') else ';'
            while not (part[-1].rstrip().endswith(end) and is_whole('\n'.join(part))):
                part.append(next(lines))
        yield '\n'.join(part)


def is_whole(code):
    code = COMMENT.sub('', code)
    return code.count('{') == code.count('}') and code.count('(') == code.count(')')


def for_c(text):
    """The header as a C compiler sees it that includes it once."""
    text = re.sub(r'^/\* (?:clang-format|SPDX-License-Identifier:) .*\*/\n|^/\*\* @} \*/\n| @{(?= \*/)',
                  '', text, flags=re.M)
    text = re.sub(r'^#ifdef __cplusplus\n(.*?)^#(else\n(.*?)^#)?endif\n',
                  lambda m: m.group(3) or '', text, flags=re.M | re.S)
    text = re.sub(r'^#if [^\n]*\n(.*?)^#else\n.*?^#endif\n', r'\1', text, flags=re.M | re.S)
    return re.sub(r'^(#ifndef ZKRECIPES_\w+\n#define ZKRECIPES_\w+|#endif|ZKR__\w+_C)\n', '',
                  text, flags=re.M)


class Header:
    """The comment at the top, and (comment, declaration) for the rest."""

    def __init__(self, path):
        self.name, self.page = path.name, page_of(path)
        self.includes, self.entries = [], []
        comment = None
        for part in parts(for_c(path.read_text())):
            include = re.match(r'#include <zkrecipes/(\w+\.h)>', part)
            if part.startswith('/*'):
                self.free(comment)
                comment = part
            elif include:
                self.includes.append(include.group(1))
            elif not part:
                self.free(comment)
                comment = None
            elif not re.match(r'#include|#define ZKR__', part):
                part = re.sub(r'\n\{.*', ';', part, flags=re.S) \
                    if part.startswith('ZKR_SHORT') else part  # without its body
                self.entries.append((comment, part))
                comment = None
        self.about = self.entries.pop(0)[0]
        self.brief = ' '.join(comment_lines(self.about)).strip().split('. ')[0].rstrip('.')

    def free(self, comment):
        """A comment that stands alone, but for the title of a group."""
        if comment and not comment.startswith('/* --'):
            self.entries.append((comment, None))

    def section(self, of_functions):
        """The entries that are functions, or the others. A comment that stands
        alone belongs to what follows it."""
        wanted, section = not of_functions, []
        for comment, code in reversed(self.entries):
            if code is not None:
                wanted = is_function(code) == of_functions
            if wanted:
                section.insert(0, (comment, code))
        return section

    def names(self):
        """All that is declared, without what has a name of the library itself."""
        for _, code in self.entries:
            if is_function(code):
                yield name_of(code)
            elif code:
                for match in NAMES.finditer(COMMENT.sub('', code)):
                    yield next(filter(None, match.groups()))


def is_function(code):
    return bool(code and MARKS.match(code))


def name_of(code):
    return FUNCTION.search(code).group(1)


# -- troff -------------------------------------------------------------------

def escape(text):
    text = text.replace('\\', '\\e').replace("'", '\\(aq')
    return re.sub(r'^\.', r'\\&.', text, flags=re.M)


def prose(lines, pages):
    text = escape('\n'.join(line.strip() for line in lines))
    text = re.sub(r'@p (\w+)', r'\\fI\1\\fP', text)
    text = re.sub(r'\b(zkr_\w+)\(\)', r'\\fB\1\\fP()', text)
    return re.sub(r'\b(\w+\.h)\b', lambda m: '\\fB%s\\fP(3)' % page_of(m.group(1))
                  if page_of(m.group(1)) in pages else m.group(1), text)


def verbatim(code):
    code = re.sub(r'/\*\*<? ', '/* ', code)
    return '.nf\n%s\n.fi' % escape(code).replace('-', '\\-')


def prototype(code):
    """The declaration of a function, broken between its parameters."""
    code = ' '.join(MARKS.sub('', code, count=1).split()).replace('( ', '(')
    code = re.sub(r'(?<!,) ', '\0', code)
    lines = textwrap.wrap(code, 68, subsequent_indent=' ' * 8, break_long_words=False)
    return '.nf\n%s\n.fi' % '\n'.join(
        '\\fB%s\\fP' % escape(line.replace('\0', ' ')) for line in lines)


def body(lines, pages):
    """The troff of the text of a comment."""
    out, run, kind = [], [], None

    def flush():
        if run:
            out.append(verbatim('\n'.join(run)) if kind == 'code' else prose(run, pages))
        run.clear()

    for line in lines:
        title, item = TITLE.match(line), ITEM.match(line)
        if not line.strip():
            flush()
            kind = None
        elif title:
            flush()
            out.append('.TP\n.B %s' % title.group(1))
            kind, run[:] = 'part', [title.group(2)]
        elif item and kind != 'code':
            flush()
            out.append('.IP %s 4' % ('\\(bu' if item.group(1) == '-' else item.group(1)))
            kind, run[:] = 'part', [item.group(2)]
        else:
            if kind is None:
                kind = 'code' if line.startswith('  ') else 'text'
                out.append('.PP')
            elif kind == 'part' and not line.startswith(' '):
                flush()
                kind = 'text'
                out.append('.PP')
            run.append(line)
    flush()
    return '\n'.join(out)


def synopsis(header, pages):
    functions = [code for _, code in header.section(True) if code]
    names = dict.fromkeys([header.page, *map(name_of, functions)])
    yield '.SH NAME'
    yield '%s \\- %s' % (', '.join(names), prose([header.brief], pages).replace('\n', ' '))
    yield '.SH SYNOPSIS\n.nf\n.B #include <zkrecipes/%s>\n.fi' % header.name
    for code in functions:
        yield '.PP\n' + prototype(code)


def entries(section, of_functions, pages):
    for comment, code in section:
        if not code:
            yield '.SS Note' if of_functions else '.PP'
        elif of_functions:
            yield '.SS %s()\n%s' % (name_of(code), prototype(code))
        else:
            yield '.PP\n' + verbatim(code)
        if comment:
            yield body(comment_lines(comment), pages)


def page(header, pages, version, date):
    yield '.\\" Made by docs/man/pages.py from include/zkrecipes/%s.' % header.name
    yield '.TH %s 3 %s "zkrecipes %s" "C library"' % (header.page.upper(), date, version)
    yield '.ad l\n.nh'
    yield from synopsis(header, pages)
    yield '.SH DESCRIPTION'
    yield body(comment_lines(header.about), pages)
    for title, of_functions in ('TYPES', False), ('FUNCTIONS', True):
        section = header.section(of_functions)
        if section:
            yield '.SH ' + title
            yield from entries(section, of_functions, pages)
    yield '.SH SEE ALSO'
    for related in sorted({page_of(name) for name in header.includes} & pages):
        yield '.BR %s (3),' % related
    yield '.BR zkrecipes (7)\n'


def without_empty_paragraphs(text):
    return re.sub(r'^(\.(?:S[HS] .*|PP))(\n\.PP)+$', r'\1', text, flags=re.M)


def main(directory, version, date, paths):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob('*.3'):  # of a header that is no more
        old.unlink()
    headers = [Header(pathlib.Path(path)) for path in paths if path.endswith('.h')]
    pages = {header.page for header in headers}
    for header in headers:
        text = '\n'.join(page(header, pages, version, date))
        (directory / (header.page + '.3')).write_text(without_empty_paragraphs(text))
        for name in header.names():
            if name not in pages:
                (directory / (name + '.3')).write_text('.so man3/%s.3\n' % header.page)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
