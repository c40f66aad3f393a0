#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the code in the documents compiles: each block of C and C++.

    snippets.py SOURCE_ROOT c|cpp COMPILER...

A block that has a function is a file; any other is the body of one, with the
variables and functions that snippets.h and snippets.hpp declare.
"""
import pathlib
import re
import subprocess
import sys

FLAGS = {'c': ['-x', 'c', '-std=gnu11'], 'cpp': ['-x', 'c++', '-std=c++17']}
WARNINGS = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter',
            '-Wno-unused-variable', '-Wno-unused-but-set-variable',
            '-Wno-unused-function']
BODY = {'c': 'int snippet(VARIABLES)\n{{\nint rc = 0;\n{}\nreturn rc;\n}}\n',
        'cpp': 'void snippet()\n{{\n{}\n}}\n'}


def blocks(page, language):
    """Each block of that language: the number of its first line, and its text."""
    text = page.read_text()
    for match in re.finditer(r'^```%s\n(.*?)^```$' % language, text, re.M | re.S):
        yield text.count('\n', 0, match.start()) + 2, match.group(1)


def main(root, language, compiler):
    root = pathlib.Path(root)
    prelude = root / 'tests' / 'api' / ('snippets.h' if language == 'c' else 'snippets.hpp')
    count = failed = 0
    for page in [root / 'README.md', *sorted((root / 'docs').glob('*.md'))]:
        for line, block in blocks(page, language):
            source = f'#line {line} "{page.relative_to(root)}"\n{block}'
            if not re.search(r'^\{$', block, re.M):
                source = BODY[language].format(source)
            run = subprocess.run([*compiler, *FLAGS[language], *WARNINGS, '-fsyntax-only',
                                  f'-I{root}/include', '-include', prelude, '-'],
                                 input=source, text=True, capture_output=True)
            count += 1
            if run.returncode != 0:
                failed += 1
                print(run.stderr)
    print(f'{count} blocks, {failed} do not compile')
    return 1 if failed or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
