# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS's kernels."""
import numpy

a, b = numpy.random.rand(600, 600), numpy.random.rand(600, 600).astype("float32")
while True:
    a = (a @ a) / 300
    b = (b @ b) / 300
    numpy.linalg.solve(a + numpy.eye(600), a[0])
