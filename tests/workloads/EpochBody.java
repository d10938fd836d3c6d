// SPDX-License-Identifier: Apache-2.0
/** The class whose bytes Epochs defines again and again, each time under the name of its epoch. */
public final class EpochBody implements java.util.function.LongUnaryOperator {
    static long churn(long x) {
        for (int i = 0; i < 2000; i++) {
            x = x * 6364136223846793005L + i;
            x ^= x >>> 33;
        }
        return x;
    }

    @Override
    public long applyAsLong(long x) {
        for (int i = 0; i < 50; i++) {
            x = churn(x);
        }
        return x;
    }
}
