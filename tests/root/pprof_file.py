# SPDX-License-Identifier: Apache-2.0
"""pprof files as far as sums of leaves need them (google/pprof, proto/profile.proto)."""
import collections
import gzip

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of each field; value is bytes where it has a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def numbers(value):
    """Of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def first(message, number):
    return next(value for field, value in fields(message) if field == number)


def functions(path):
    """(name, system name) of each function."""
    strings, found = [], []
    with gzip.open(path) as file:
        for number, part in fields(file.read()):
            if number == STRING:
                strings.append(part.decode("utf-8", "replace"))
            elif number == FUNCTION:
                found.append(dict(fields(part)))
    return [(strings[function.get(2, 0)], strings[function.get(3, 0)]) for function in found]


def sums_of_leaves(path, value, thread=""):
    """
    {name of the innermost function: sum of the values of this name, as "alloc_objects"}, of threads whose name begins
    with THREAD.
    """
    parts = collections.defaultdict(list)
    with gzip.open(path) as file:
        for number, part in fields(file.read()):
            parts[number].append(part)
    strings = [text.decode("utf-8", "replace") for text in parts[STRING]]
    types = [strings[first(part, 1)] for part in parts[SAMPLE_TYPE]]
    functions = {first(part, 1): strings[first(part, 2)] for part in parts[FUNCTION]}
    # Its first line is the innermost.
    leaves = {first(part, 1): functions[first(first(part, 4), 1)]
              for part in parts[LOCATION] if any(field == 4 for field, _ in fields(part))}
    sums = collections.Counter()
    for part in parts[SAMPLE]:
        labels = [dict(fields(label)) for field, label in fields(part) if field == 3]
        if not any(strings[label[1]] == "thread" and strings[label.get(2, 0)].startswith(thread) for label in labels) and thread:
            continue
        stack = [number for field, row in fields(part) if field == 1 for number in numbers(row)]
        values = [number for field, row in fields(part) if field == 2 for number in numbers(row)]
        sums[leaves[stack[0]]] += values[types.index(value)]
    return sums


def leaves(path):
    """(mapping's file, address, name of the function, samples) of each innermost frame."""
    parts = collections.defaultdict(list)
    with gzip.open(path) as file:
        for number, part in fields(file.read()):
            parts[number].append(part)
    strings = [text.decode("utf-8", "replace") for text in parts[STRING]]
    functions = {first(part, 1): strings[first(part, 2)] for part in parts[FUNCTION]}
    files = {first(part, 1): strings[dict(fields(part)).get(5, 0)] for part in parts[MAPPING]}
    locations = {}
    for part in parts[LOCATION]:
        plain = {field: value for field, value in fields(part) if field != 4}
        line = next(value for field, value in fields(part) if field == 4)
        locations[plain[1]] = (files.get(plain.get(2), ""), plain.get(3, 0), functions[first(line, 1)])
    counts = collections.Counter()
    for part in parts[SAMPLE]:
        stack = [number for field, row in fields(part) if field == 1 for number in numbers(row)]
        values = [number for field, row in fields(part) if field == 2 for number in numbers(row)]
        if stack:
            counts[locations[stack[0]]] += values[0]
    return [(*place, count) for place, count in counts.items()]
