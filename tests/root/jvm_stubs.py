# SPDX-License-Identifier: Apache-2.0
"""The names of HotSpot's stubs, JDK 8 to 28, as hostprof shows them: cpu/x86/stubGenerator_x86*.cpp,
share/runtime/stubDeclarations.hpp. Tables of constants have names, too, which no frame can have.
"""
COPIES = (r"(?:arrayof_)?j(?:byte|short|int|long)_(?:(?:disjoint_|conjoint_)?arraycopy(?:_avx3)?|fill)|"
          r"(?:oop(?:_disjoint)?|checkcast|generic|unsafe)_arraycopy(?:_uninit)?|unsafe_setmemory|vectorizedMismatch")
MATHS = r"libm(?:Sin|Cos|Tan|Exp|Log|Log10|Pow|Fmod)|d?(?:sin|cos|tan|exp|log|log10|pow)|dcbrt|d(?:sin|tan)h|fmod"
CIPHERS = (r"(?:aescrypt|cipherBlockChaining|electronicCodeBook)_(?:en|de)crypt(?:Block|AESCrypt)|"
           r"(?:counterMode|galoisCounterMode)_AESCrypt|(?:ghash|poly1305)_processBlocks|chacha20Block|"
           r"base64_(?:en|de)codeBlock|impl(?:En|De)code|kyber\w+|dilithium\w+|intpoly_\w+")
DIGESTS = r"(?:md5|sha(?:1|256|512|3))_implCompress(?:MB)?|(?:double|quad)_keccak"
SUMS = r"updateBytes(?:Adler32|CRC32C?)"
BIG_NUMBERS = r"bigInteger(?:Left|Right)ShiftWorker|mulAdd|multiplyToLen|squareToLen|montgomery\w+"
# On the way out of a method, or into one.
WAYS = r"(?:forward|catch)[_ ]exception|(?:method|nmethod)_entry_barrier|_(?:invoke|linkTo)[A-Z]\w+"
OTHERS = (r"[df]2[il]_fixup|hf2[il]_fixup|f2hf|hf2f|float16ToFloat|floatToFloat16|verify_(?:oop|mxcsr)|"
          r"get_previous_[fs]p|(?:orderaccess_)?fence|atomic_\w+|handler_for_unsafe_access|"
          r"_?data_cache_writeback(?:_sync)?|lookup_secondary_supers_table\w*|SafeFetch(?:32|N)|"
          r"cont_(?:thaw|preempt|returnBarrier(?:Exc)?)|Cont thaw(?: return barrier(?: exception)?)?|upcall_stub_\w+")
STUB_NAMES = "|".join((COPIES, MATHS, CIPHERS, DIGESTS, SUMS, BIG_NUMBERS, WAYS, OTHERS, "[vi]table stub"))
