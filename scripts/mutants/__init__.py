# SPDX-License-Identifier: Apache-2.0
"""The mutants of check-mutants.py: what is broken, where, and the tests that are for it.

One module per area; its name is the area's, and its list is called MUTANTS.
"""
import importlib
import pathlib

AREAS = {path.stem: importlib.import_module(f".{path.stem}", __name__).MUTANTS
         for path in sorted(pathlib.Path(__file__).parent.glob("*.py"))
         if path.stem not in ("__init__", "mutant")}
MUTANTS = [mutant for area in AREAS.values() for mutant in area]
