#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a line for each fact that a binding in another language repeats: a type
and its size; a member, its offset, size and type; a constant and its number.
Types and members are read from the headers, numbers are the compiler's, which
makes no program: it may be that of another machine.

    layout.py INCLUDE_DIR OUTPUT COMPILER...
"""
import pathlib
import re
import subprocess
import sys

include, output, *compiler = sys.argv[1:]
HEADERS = '#include <stddef.h>\n#include <zkrecipes/zkrecipes.h>\n'


def compiled(source, *how):
    return subprocess.run([*compiler, '-I', include, '-x', 'c', *how, '-o', '-', '-'],
                          input=HEADERS + source, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def facts(expanded):
    for kind, name, body in re.findall(r'\b(struct|enum) (zkr_\w+)\s*{([^}]*)}', expanded):
        yield name, [f'sizeof({kind} {name})'], ''
        for item in re.split('[,;]', ' '.join(body.split())):
            if item.strip() and kind == 'enum':
                yield item.split()[0], [item.split()[0]], ''
            elif item.strip():
                of, member, array = re.fullmatch(r' ?(.*\W)(\w+)(\[\d+\])?', item).groups()
                yield (f'{name}.{member}',
                       [f'offsetof(struct {name}, {member})',
                        f'sizeof(((struct {name} *)0)->{member})'],
                       ' ' + of.strip() + (array or ''))


def statement(name, numbers, of):
    """As the kernel does it: constants in the text of the assembler."""
    places = ''.join(f' %c{place}' for place in range(len(numbers)))
    inputs = ', '.join(f'"i"({number})' for number in numbers)
    return f'__asm__ volatile(".ascii \\"->{name}{places}{of}\\"" : : {inputs});'


code = '\n'.join(statement(*fact) for fact in facts(compiled('', '-E', '-P')))
text = compiled(f'void layout(void);\nvoid layout(void)\n{{\n{code}\n}}\n', '-S')
pathlib.Path(output).write_text(
    ''.join(line + '\n' for line in re.findall('"->(.*)"', text)))
