# SPDX-License-Identifier: Apache-2.0
"""Programs with code that no call frame information describes."""
from .kind import kind

LOAD = '"$HERE"/load'
VIDEO = r"""python3 -c 'import random
r = random.Random(1); base = bytearray(r.randrange(256) for _ in range(352 * 288)); out = open("v.yuv", "wb")
for f in range(120): out.write(base[f * 3:] + base[:f * 3] + bytes(352 * 144))'
"""

for way, options in {"static": "-static", "dynamic": ""}.items():
    kind(f"musl, {way}", r"work", packages="musl-gcc:musl-tools", make=f"musl-gcc -O2 {options} -o work {LOAD}/work.c -lpthread", script="work ./work")
kind("musl, stripped", r"work", packages="musl-gcc:musl-tools", make=f"musl-gcc -O2 -s -static -o work {LOAD}/work.c -lpthread", script="work ./work")
kind("pascal", r"work", packages="fpc:fp-compiler /usr/lib/x86_64-linux-gnu/fpc/3.2.2/units/x86_64-linux/fcl-base:fp-units-fcl",
     make=f"cp {LOAD}/work.pas . && fpc -O2 -owork work.pas >/dev/null", script="work ./work")
kind("x264", r"x264", packages="x264", make=VIDEO, script="again x264 --quiet --input-res 352x288 -o x.264 v.yuv")
kind("x265", r"x265", packages="x265", make=VIDEO, script="again x265 --input-res 352x288 --fps 25 --preset slow -o x.265 v.yuv")
kind("ffmpeg", r"ffmpeg", packages="ffmpeg", script="again ffmpeg -v quiet -y -f lavfi -i testsrc2=size=640x360:rate=25 -t 4 -c:v mpeg4 -vf scale=400:300 x.avi")
kind("openblas", r"python3.*", packages="/usr/lib/python3/dist-packages/numpy:python3-numpy /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3:libopenblas0-pthread",
     script=f"work /usr/bin/python3.11 {LOAD}/gemm.py")
kind("busybox", r"busybox", packages="busybox:busybox-static", make="seq 400000 >text",
     script="again busybox sh -c 'busybox sort -r text | busybox gzip -c; busybox sha512sum text; busybox awk \"{ n += \\$1 } END { print n }\" text'")
