// SPDX-License-Identifier: Apache-2.0
/** Of no use but to be parsed, verified, linked and initialized. */
public final class Loaded {
    private static final String[] WORDS = "one two three four five".split(" ");
    private final long[] numbers = new long[4];

    @Override
    public int hashCode() {
        long sum = WORDS.length;
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = sum * i;
            sum += numbers[i] ^ WORDS[i].hashCode();
        }
        return (int) sum;
    }

    public double unused(double x, String text) {
        StringBuilder builder = new StringBuilder(text);
        try {
            builder.append(x).append(numbers.length);
            return Double.parseDouble(builder.toString());
        } catch (NumberFormatException e) {
            return x * text.length();
        }
    }
}
