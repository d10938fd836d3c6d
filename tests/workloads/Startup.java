// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A program that is over soon: "Startup MS" loads what programs load first (collections, lambdas,
 * streams, formats, patterns) and then does the same over and over until MS have passed, so that its
 * code is interpreted, compiled, compiled again, deoptimised.
 */
public final class Startup {
    private interface Rule {
        long apply(String word, int number);
    }

    private static long letters(String word, int number) {
        long sum = number;
        for (int i = 0; i < word.length(); i++)
            sum = sum * 31 + word.charAt(i);
        return sum;
    }

    private static long count(List<String> words) {
        Map<Integer, List<String>> byLength =
            words.stream().filter(word -> !word.isEmpty()).collect(Collectors.groupingBy(String::length));
        return byLength.size();
    }

    private static long split(String line) {
        long sum = 0;
        for (String word : Pattern.compile("[ ,;]+").split(line))
            sum += word.hashCode();
        return sum;
    }

    private static long format(int number) {
        return String.format("%08x %s %.3f", number, "word", number / 7.0).length();
    }

    private static long descend(Rule[] rules, int depth, String word) {
        if (depth == 0)
            return rules[word.length() % rules.length].apply(word, depth);
        return rules[depth % rules.length].apply(word, depth) + descend(rules, depth - 1, word);
    }

    private static long fail(int number) {
        try {
            return Integer.parseInt("x" + number);
        } catch (NumberFormatException e) {
            return e.getMessage().length();
        }
    }

    private static long work(Rule[] rules, int round) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 50; i++)
            words.add("word" + (round + i) % 977);
        return count(words) + split(String.join(", ", words)) + format(round) + fail(round)
            + descend(rules, 30, words.get(round % 50));
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000L;
        Map<String, Long> seen = new HashMap<>();
        Rule[] rules = {Startup::letters, (word, number) -> word.hashCode() ^ number,
                        (word, number) -> seen.merge(word, (long) number, Long::sum)};
        long sum = 0;
        for (int round = 0; System.nanoTime() < end; round++)
            sum += work(rules, round);
        System.out.println(sum + " " + seen.size());
    }
}
