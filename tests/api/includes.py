#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes what: the client's header in the seam, nothing upwards,
nothing private in tools and examples, no word for two things, and that each
source names its licence in its first lines.

    includes.py SOURCE_ROOT
"""
import os
import re
import sys
from pathlib import Path

# The rooms, and the rooms whose headers each may include; "." is its own
# directory, without a name.
ROOMS = {
    'src/base': 'base',
    'src/protocol': 'base protocol',
    'src/zk': 'base zk',
    'src/session': 'base zk session',
    'src/request': 'base zk session request',
    'src/lock': 'base protocol zk session request lock',
    'src/inspect': 'base protocol zk session request lock inspect',
    'src/fence': 'base fence',
    'recipes': 'base protocol session request lock inspect .',
    'tools/zk-lockctl/common': 'common',
    'tools/zk-lockctl/model': 'protocol common model',
    'tools/zk-lockctl/text': 'protocol common model text',
    'tools/zk-lockctl/run': 'protocol common model text run',
    'tools/zk-lockctl/top': 'protocol common model text top',
    'tools/zk-lockctl/verbs': 'protocol common model text run top verbs',
    'tools/zk-lockctl': 'common text verbs',
}
SEAM = re.compile(r'include/zkrecipes/zhandle\.h|src/zk/zk_(mt\.c|latch\.c|(init|move)\.[ch])')
TOOL = Path('tools/zk-lockctl')
SOURCE = re.compile(r'.*\.([ch]|[ch]pp|java|py|sh)|run|rules|zk-dev')
LICENCE = b'SPDX-License-Identifier: Apache-2.0'


def lines_of(*tops):
    """Each line of the C sources in them, its file, and where it stands."""
    for path in sorted(path for top in tops for path in Path(top).rglob('*.[ch]')):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield path, line, f'{path}:{number}:{line}'


def includes_of(*tops):
    for path, line, place in lines_of(*tops):
        found = re.match(r'\s*#\s*include\s*([<"][^>"]*[>"])', line)
        if found:
            yield path, found[1], place


def tags_of(*tops):
    return [tag for _, line, _ in lines_of(*tops)
            for tag in re.findall(r'(?:struct|enum|union) ([a-z_0-9]+) \{', line)]


def names_of(*folders):
    return {path.name for folder in folders for path in folder.rglob('*.[ch]')}


def wrong_includes():
    if '<zookeeper/zookeeper.h>' not in {name for path, name, _ in includes_of('src/zk')
                                         if path.name == 'zk_mt.c'}:
        yield 'src/zk/zk_mt.c', 'does not include the header of the client'
    for path, name, place in includes_of('src', 'recipes', 'include'):
        if re.match(r'[<"]zookeeper[/.]', name) and not SEAM.fullmatch(str(path)):
            yield place, f'the header of the client is for {SEAM.pattern} only'
    for path, name, place in includes_of('include'):
        if not re.fullmatch(r'<(zkrecipes/)?[a-z_]+\.h>', name) and path.name != 'zhandle.h':
            yield place, 'a public header includes what is neither public nor of C'
    for path, name, place in includes_of('src', 'recipes', TOOL):
        if name[0] == '"' and (os.path.dirname(name[1:-1]) or '.') not in ROOMS.get(
                str(path.parent), '').split():
            yield place, 'a room includes what it may not know'
    for path, name, place in includes_of('tools', 'examples'):
        if name[0] == '"' and TOOL not in path.parents and not (
                '/' not in name and (path.parent / name[1:-1]).exists()):
            yield place, 'tools and examples include public headers and their own only'


def words_for_two_things():
    """One word has one meaning, in the library and the tool together: as a tag, and
    as the name of a file. The files of verbs/ have the names of the verbs."""
    tags = tags_of('src', 'recipes', 'include')
    rooms = [room for room in TOOL.iterdir() if room.is_dir() and room.name != 'verbs']
    for tag in {tag for tag in tags if tags.count(tag) > 1}:
        yield tag, 'a tag stands twice in the library'
    for tag in set(tags) & set(tags_of(TOOL)):
        yield tag, 'a tag stands in the library and the tool'
    for name in names_of(Path('src'), Path('recipes')) & names_of(*rooms):
        yield name, 'a file of the library and one of the tool have one name'


def faults():
    yield from wrong_includes()
    yield from words_for_two_things()
    for build in (Path('tools/meson.build'), Path('examples/meson.build')):
        if build.exists() and re.search('zkr_private_inc|zkr_core', build.read_text()):
            yield build, 'tools and examples are built like a user would'
    # Directories that meson builds in, or tools/, and git's own, are no sources.
    for top, folders, files in os.walk('.'):
        folders[:] = [f for f in folders if not (f == '.git' or Path(top, f, 'meson-private').exists()
                                                 or top == '.' and f.startswith('build-'))]
        for file in files: # the brackets keep this file out
            text = Path(top, file).read_bytes()
            if re.search(rb'(/work|\.\.)/[s]hared', text):
                yield Path(top, file), 'a file mentions what is not part of the project'
            if SOURCE.fullmatch(file) and LICENCE not in b''.join(text.splitlines()[:2]):
                yield Path(top, file), 'no SPDX line'


os.chdir(sys.argv[1])
found = list(faults())
for where, why in found:
    print(f'{where}: {why}')
sys.exit(bool(found))
