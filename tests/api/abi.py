#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the binary interface of the shared library with the stored one: the
exported functions, and the layout of the types in the public headers. Each
difference must be on purpose, also an addition; then the file is written anew.
The installed listing for bindings (src/layout.py) must say the same.

    abi.py [--write] LIBRARY DUMP.gz [LAYOUT]
"""
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

ABIDW = ['abidw', '--exported-interfaces-only', '--drop-undefined-syms',
         '--no-architecture', '--no-elf-needed', '--no-corpus-path',
         '--no-comp-dir-path', '--no-parameter-names',
         '--no-write-default-sizes', '--type-id-style', 'hash', '--out-file']
HERE = ('filepath', 'line', 'column')


def is_private(element):
    """abidw can leave out the types of other headers than some, but it goes by
    the last part of their names, and src/lock/grant.h is not public."""
    return (element.tag in ('class-decl', 'union-decl', 'enum-decl')
            and 'include/zkrecipes/' not in element.get('filepath', ''))


def make_opaque(element):
    for child in list(element):
        element.remove(child)
    for attribute in ('size-in-bits', 'alignment-in-bits'):
        element.attrib.pop(attribute, None)
    element.set('is-declaration-only', 'yes')


def trim(corpus):
    """Keeps the functions, and the types that they lead to."""
    for element in corpus.iter():
        if is_private(element):
            make_opaque(element)
        for attribute in HERE:
            element.attrib.pop(attribute, None)
    wanted = set()
    found = True
    while found:
        found = False
        for unit in corpus.findall('abi-instr'):
            for element in unit:
                ids = {inner.get('id') for inner in element.iter()} - {None}
                if element.tag == 'function-decl' or ids & wanted:
                    uses = {inner.get(name) for inner in element.iter()
                            for name in ('type-id', 'naming-typedef-id')}
                    found = found or not uses - {None} <= wanted
                    wanted |= uses - {None}
    for unit in corpus.findall('abi-instr'):
        for element in list(unit):
            ids = {inner.get('id') for inner in element.iter()}
            if element.tag != 'function-decl' and not ids & wanted:
                unit.remove(element)
        if len(unit) == 0:
            corpus.remove(unit)


def dump(library, path):
    subprocess.run([*ABIDW, path, library], check=True)
    document = tree.parse(path)
    trim(document.getroot())
    document.write(path)
    return document


def layouts(corpus):
    """The facts of the listing, without their types."""
    for element in corpus.iter():
        name = element.get('name')
        if element.tag == 'enumerator':
            yield f"{name} {element.get('value')}"
        elif element.tag == 'class-decl' and element.get('size-in-bits'):
            yield f"{name} {int(element.get('size-in-bits')) // 8}"
            for member in element.iter('data-member'):
                yield (f"{name}.{member.find('var-decl').get('name')} "
                       f"{int(member.get('layout-offset-in-bits')) // 8}")


def is_listed(corpus, layout):
    """No fact is other, and no member or constant is in one of them only, but
    constants that no function leads to."""
    known = set(layouts(corpus))
    listed = {' '.join(line.split()[:2])
              for line in pathlib.Path(layout).read_text().splitlines()}
    wrong = (known - listed) | {fact for fact in listed - known if '.' in fact}
    for fact in sorted(wrong):
        print(f'not the same in {layout}: {fact}')
    return not wrong


def obstacle(library):
    """Why nothing can be compared; or None."""
    if not all(map(shutil.which, ('abidw', 'abidiff', 'readelf'))):
        return 'no abidw and abidiff (abigail-tools), or no readelf'
    facts = subprocess.run(['readelf', '-hSW', library], check=True, text=True,
                           capture_output=True).stdout
    if 'ELF64' not in facts:
        return 'the stored sizes are those of 64 bits'
    return None if '.debug_info' in facts else 'no debug information'


def main(library, stored, layout=None, write=False):
    if obstacle(library):
        print('skipped:', obstacle(library))
        return 77
    with tempfile.TemporaryDirectory() as directory:
        old, new = (str(pathlib.Path(directory) / name) for name in ('old', 'new'))
        corpus = dump(library, new)
        if layout and not is_listed(corpus, layout):
            return 1
        if write:
            pathlib.Path(stored).write_bytes(
                gzip.compress(pathlib.Path(new).read_bytes(), mtime=0))
            return 0
        pathlib.Path(old).write_bytes(
            gzip.decompress(pathlib.Path(stored).read_bytes()))
        if subprocess.run(['abidiff', '--no-architecture', old, new],
                          check=False).returncode == 0:
            return 0
    print(f'\nThe binary interface is not that of {stored}.\n'
          f'If that is meant: {sys.argv[0]} --write {library} {stored}')
    return 1


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if not a.startswith('--')]
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*arguments, write='--write' in sys.argv))
