#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the binary interface of the shared library with the stored one: the
exported functions, and the layout of the types in the public headers. Each
difference must be on purpose, also an addition; then the file is written anew.

    abi.py [--write] LIBRARY DUMP.gz

Or prints, for who writes a binding, the size of each public structure, and the
offset and type of each member, in bytes:

    abi.py --list LIBRARY
"""
import gzip
import pathlib
import re
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
    """The lines of the listing, by structure."""
    types = {element.get('id'): element for element in corpus.iter()
             if element.get('id')}

    def name(identifier):
        element = types[identifier]
        below = element.get('type-id')
        if element.tag == 'pointer-type-def':
            return name(below) + ' *'
        if element.tag == 'qualified-type-def':
            return 'const ' + name(below)
        if element.tag == 'array-type-def':
            return f"{name(below)} [{element.find('subrange').get('length')}]"
        if element.tag == 'function-type':
            return 'function'
        return element.get('name')

    return {struct.get('name'):
            [f"{struct.get('name')}: {int(struct.get('size-in-bits')) // 8}"] +
            [f"    {int(member.get('layout-offset-in-bits')) // 8:4}  "
             f"{member.find('var-decl').get('name')}: "
             f"{name(member.find('var-decl').get('type-id'))}"
             for member in struct.iter('data-member')]
            for struct in corpus.iter('class-decl') if struct.get('size-in-bits')}


def forgotten(corpus):
    """The structures of the headers that the listing does not have."""
    root = pathlib.Path(__file__).resolve().parents[2]
    text = ''.join(path.read_text()
                   for path in (root / 'include' / 'zkrecipes').glob('*.h'))
    return set(re.findall(r'^struct (zkr_\w+) \{', text, re.M)) - set(layouts(corpus))


def can_compare(library):
    """Sizes are those of 64 bits; without debug information there are none."""
    if not all(map(shutil.which, ('abidw', 'abidiff', 'readelf'))):
        return False
    facts = subprocess.run(['readelf', '-hSW', library], check=True, text=True,
                           capture_output=True).stdout
    return 'ELF64' in facts and '.debug_info' in facts


def main(library, stored=None, write=False):
    if not can_compare(library):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        old, new = (str(pathlib.Path(directory) / name) for name in ('old', 'new'))
        corpus = dump(library, new)
        if forgotten(corpus):
            print('not found:', *sorted(forgotten(corpus)))
            return 1
        if stored is None:
            for _, lines in sorted(layouts(corpus).items()):
                print(*lines, sep='\n')
            return 0
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
    if len(arguments) != (1 if '--list' in sys.argv else 2):
        sys.exit(__doc__)
    sys.exit(main(*arguments, write='--write' in sys.argv))
