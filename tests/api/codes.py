#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each code that a public header promises is provoked by a test:
by a row of unit/test_outputs.c, whose letters say what is wrong, or by a test
that makes the call, itself or through functions of its file, and names the
code. Every function that returns a code has a row there, which has its output,
and a "T" when it waits for so long as it is told; and one with a callback has a
"B" or is called by what_tells_nobody_works.

    codes.py ROOT
"""
import collections
import pathlib
import re
import sys

LETTERS = {'EINVAL': 'N', 'EFORKED': 'F', 'ZAUTHFAILED': 'A', 'ECLOSED': 'C',
           'EDEADLK': 'D', 'EPATH': 'P', 'ETOOLONG': 'L'}
# Every allocation fails in turn, and every system call.
IN_WANT = ('integration/test_alloc.c', 'unit/test_failing.c', 'sim/lives.c', 'unit/test_fence.c')
FOLDERS = ('unit', 'integration', 'integration/contract', 'sim')

# Codes that a test provokes without the name of the call, or that need none.
ELSEWHERE = {
    ('zkr_rwlock_acquire_read', 'EOVERFLOW'): 'integration/test_rwlock.c',
    ('zkr_rwlock_acquire_write', 'EOVERFLOW'): 'integration/test_rwlock.c',
    # Calls that a row of the table of faults matches by a pattern.
    ('barrier', 'EUNREACHABLE'): 'integration/faults/rows.c',
    ('counter', 'EUNREACHABLE'): 'integration/faults/rows.c',
    ('zkr_participants_break', 'EUNREACHABLE'): 'integration/faults/rows.c',
    ('zkr_leader_wait', 'ZOPERATIONTIMEOUT'):
        'integration/contract/connections.c',
    # The client is always told before.
    ('zkr_test_expire_session', 'ETIMEDOUT'): 'unit/test_error.c',
    ('grant', 'ZUNIMPLEMENTED'): 'unit/test_zk_mt.c',
    ('client', 'ZUNIMPLEMENTED'): 'unit/test_zk_mt.c',
}

# Their timeouts are tried in unit/test_fence.c and integration/test_barrier.c.
OWN_TIME = ('zkr_fence_begin', 'zkr_double_barrier_leave')


def headers(root):
    for path in sorted((root / 'include/zkrecipes').glob('*.h')):
        yield path.stem, path.read_text()


def promises(text, header):
    """Pairs of a function, or of the header where its top says so, and a code."""
    for comment, declaration in re.findall(
            r'/\*\*(.*?)\*/\s*?(?:\n(?=\n|#)|([^;{}]*;))', text, re.S):
        errors = re.search(r'(?:\* Errors {4}|Errors?:)(.*?)(?=\n \*  ?(?:Threads|Time|Owns|'
                           r'Source|Example|On error)\b|\Z)', comment, re.S)
        name = re.search(r'\b(zkr_\w+)\(', declaration)
        for code in set(re.findall(r'\bZKR_(E[A-Z0-9]+|Z[A-Z]+)\b',
                                   errors.group(1) if errors else '')):
            yield name.group(1) if name else header, code


def tests(root):
    """The text of each test, with that of the functions that it calls."""
    function = re.compile(r'^(?:TEST(?:_WITH|_ROWS)?\((\w+)[^)]*\)|(?:static )?'
                          r'[\w *]+?\b(\w+)\([^;{}]*\))\n\{(.*?)^\}', re.S | re.M)
    for folder in FOLDERS:
        for path in (root / 'tests' / folder).glob('*.c'):
            bodies = {a or b: text for a, b, text
                      in function.findall(path.read_text())}
            for name, body in bodies.items():
                words = set(re.findall(r'\w+', body))
                for _ in range(2):
                    for word in words & bodies.keys():
                        words |= set(re.findall(r'\w+', bodies[word]))
                yield path, words


def main():
    root = pathlib.Path(sys.argv[1])
    outputs_c = (root / 'tests/unit/test_outputs.c').read_text()
    table = re.findall(r'^ *(ROW|CALL)\((\w+),(?: \w+(?:\([^)]*\))?,)? "(\w*)",', outputs_c, re.M)
    rows = {name: letters for _, name, letters in table}
    outputs = {name for kind, name, _ in table if kind == 'ROW'}
    untold = {name for name, letters in rows.items() if 'B' in letters}
    untold |= set(re.findall(r'zkr_\w+', re.search(
        r'^TEST_WITH\(what_tells_nobody_works.*?^\}', outputs_c, re.M | re.S).group()))
    in_want = ' '.join((root / 'tests' / f).read_text() for f in IN_WANT)
    named = collections.defaultdict(set)
    for _, words in tests(root):
        codes = {w[4:] if w.startswith('ZKR_') else w for w in words}
        for call in (w for w in words if w.startswith('zkr_')):
            named[call] |= codes
    missing = []
    # A test of a short form is one of the function that it calls.
    for _, text in headers(root):
        for short, body in re.findall(r'ZKR_SHORT[^;{]*?(zkr_\w+)\([^;{]*\)\n\{(.*?)^\}',
                                      text, re.M | re.S):
            for call in re.findall(r'zkr_lockable_\w+', body):
                named[call] |= named[short]
    for header, text in headers(root):
        calls = dict(re.findall(r'(?:ZKR_API|ZKR_CALL|ZKR_SHORT|ZKR_MUST_CHECK)\s+int\s+(zkr_\w+)'
                                r'\(([^;{]*)[;{]', text))
        calls.pop('zkr_txn_failed', None)  # a number, no code
        told = set(re.findall(r'ZKR_(?:API|CALL|SHORT)\s[^;{]*?(zkr_\w+)\([^;{]*_fn fn\b', text))
        missing += [f'{call}: it is never without its callback' for call in told - untold]
        missing += [f'{call} has no row' for call in calls.keys() - rows.keys()]
        for call, arguments in calls.items():
            if ('ret_' in arguments and not call.endswith(('_stats', '_last_error'))) != (call in outputs):
                missing.append(f'{call}: its output is not in its row')
            waits = re.search(r' timeout_ms|_opts \*opts,\s*struct zkr_\w+ \*\*ret_list', arguments)
            if (bool(waits) and not call.endswith('_async') and call not in OWN_TIME) != (
                    'T' in rows.get(call, '')):
                missing.append(f'{call}: its timeout is not in its row')
        for scope, code in promises(text, header):
            of = {scope} if scope.startswith('zkr_') else calls
            if not (any(LETTERS.get(code, '-') in rows.get(c, '') or
                        code in named[c] for c in of) or
                    code == 'ENOMEM' and any(c in in_want for c in of) or
                    (scope, code) in ELSEWHERE and code in
                    (root / 'tests' / ELSEWHERE[scope, code]).read_text()):
                missing.append(f'no test provokes {code} of {scope}')
    for line in sorted(missing):
        print(line)
    return 1 if missing or not rows else 0


sys.exit(main())
