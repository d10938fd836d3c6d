# SPDX-License-Identifier: Apache-2.0
"""What check-mutants.py and mutate.py have in common, and what mutate.py is made of."""
