# SPDX-License-Identifier: Apache-2.0
"""Compilers at work, and what they make."""
from .kind import kind

LOAD = '"$HERE"/load'

kind("gcc", r"cc1|cc1plus|as|ld|gcc|g\+\+|collect2", packages="g++", script=f"again g++ -O2 -c -o x.o {LOAD}/work.cc")
kind("clang", r"clang.*", packages="clang", script=f"again clang++ -O2 -c -o x.o {LOAD}/work.cc")
kind("rustc", r"rustc|ld|opt .*|cc", packages="rustc", script=f"again rustc -O -o work {LOAD}/work.rs")
kind("c++ exceptions", r"work", packages="g++", make=f"g++ -O2 -o work {LOAD}/work.cc", script="work ./work")
kind("rust", r"work", packages="rustc", make=f"rustc -O -o work {LOAD}/work.rs", script="work ./work")
kind("ocaml", r"work", packages="ocamlopt:ocaml-nox", make=f"cp {LOAD}/work.ml .; ocamlopt -o work work.ml", script="work ./work",
     impossible="List.init calls itself up to 10,000 times, and --max-depth goes to 2,048", least=0.8)
kind("ghc", r"work", packages="ghc", make=f"cp {LOAD}/work.hs .; ghc -O -v0 -o work work.hs", script="work ./work",
     impossible="Haskell's frames lie on a stack of its own, to which %rbp points; code returns by jumps", least=0.0)
kind("ghc's compiler", r"ghc.*", packages="ghc", make=f"cp {LOAD}/work.hs .", script="again ghc -O -v0 -fforce-recomp -o work work.hs",
     impossible="Haskell's frames lie on a stack of its own, to which %rbp points; code returns by jumps", least=0.0)
