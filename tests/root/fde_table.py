# SPDX-License-Identifier: Apache-2.0
"""Which functions call frame information bounds, as readelf tells."""
import bisect
import functools
import os
import re

from hp import *

# "00000018 0000000000000014 0000001c FDE cie=00000000 pc=0000000000001020..0000000000001046"
FDE = re.compile(r"^[0-9a-f]{8,} .* FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", re.M)


@functools.lru_cache(None)
def _table(path):
    text = run(["readelf", "-wf", "-wN", path], timeout=120, code=None).out
    return sorted({(int(start, 16), int(end, 16)) for start, end in FDE.findall(text) if int(start, 16)})


def function_at(path, address):
    """Where the function begins that holds ADDRESS of the file PATH, or None. The last one that begins at or below it has the word."""
    table = _table(os.path.realpath(path))
    at = bisect.bisect_right(table, (address, 1 << 64)) - 1
    return table[at][0] if at >= 0 and address < table[at][1] else None
