package reptile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Damaged sets: truncated, with a byte changed, and with a byte changed and all hashes updated. */
final class DamageTest {
    private static final String[] SECTIONS = Container.NAMES;

    /** The queries of {@code mutants.rs}. */
    private static final String[] AGENTS = {"GPTBot", "*", "Googlebot-Image"};
    private static final long[] TIMES = {Long.MIN_VALUE, 1_690_000_000L, 1_695_000_000L, 1_700_000_000L};

    private static final boolean IS_FULL = Boolean.getBoolean("reptile.full");
    private static final int[] ALL_MASKS = {1, 2, 4, 8, 16, 32, 64, 128, 0xFF};

    private DamageTest() {}

    /** Tests the sets in a file of {@code mutants.rs}, such as those that a fuzzer has changed. */
    public static void main(String[] arguments) {
        Check.section("changed sets", () -> mutants(Path.of(arguments[0])));
        Check.finish();
    }

    static void run(Path golden, Path data) throws Exception {
        byte[] bytes = Files.readAllBytes(golden.resolve("google.set"));
        List<byte[]> urls = new ArrayList<>();
        List<String[]> rows = Check.rows(golden.resolve("google.tsv"));
        // Use a subset, because each of tens of thousands of sets is queried.
        for (int row = 0; row < rows.size() / 2; row += 3) {
            urls.add(Check.bytes(rows.get(row)[2]));
        }
        cut(bytes);
        flipped(bytes, urls);
        mutants(data.resolve("damage/mutants"));
    }

    /** Returns the masks to flip: one that depends on the offset, or all with {@code -Dreptile.full=true}. */
    private static int[] masks(int at) {
        return IS_FULL ? ALL_MASKS : new int[] {ALL_MASKS[at % ALL_MASKS.length]};
    }

    /** Every truncated or extended set is rejected. */
    private static void cut(byte[] bytes) {
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            Check.refused(DamagedSetException.class, () -> CompiledSet.of(cut), "the first " + length + " bytes");
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        Check.refused(DamagedSetException.class, () -> CompiledSet.of(longer), "a byte too many");
    }

    /**
     * Every changed byte is found by opening or verifying, and every query returns an answer or throws
     * {@link DamagedSetException}.
     */
    private static void flipped(byte[] bytes, List<byte[]> urls) {
        for (int at = 0; at < bytes.length; at++) {
            for (int mask : masks(at)) {
                byte[] copy = bytes.clone();
                copy[at] ^= (byte) mask;
                Check.refused(DamagedSetException.class, () -> CompiledSet.of(copy).verify(), "byte " + at + " changed");
                ask(copy, urls, "byte " + at + " changed");
            }
        }
    }

    /** A set before damage, with its queries. */
    private static final class Base {
        final byte[] bytes;
        final List<byte[]> urls = new ArrayList<>();

        Base(ByteBuffer file) {
            bytes = text(file);
            for (int left = file.getInt(); left > 0; left--) {
                urls.add(text(file));
            }
        }

        private static byte[] text(ByteBuffer file) {
            byte[] text = new byte[file.getInt()];
            file.get(text);
            return text;
        }
    }

    /**
     * Tests damage with matching hashes, which {@code engine/examples/mutants.rs} has tried on the engine. Sets that
     * the engine accepts must be accepted and give the same answers. Sets that it rejects must be rejected, or give the
     * same answers wherever the engine has one.
     */
    private static void mutants(Path path) throws Exception {
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        List<Base> bases = new ArrayList<>();
        for (int left = file.getInt(); left > 0; left--) {
            bases.add(new Base(file));
        }
        int tried = 0;
        int accepted = 0;
        int lenient = 0;
        while (file.hasRemaining()) {
            int place = Short.toUnsignedInt(file.getShort());
            Base base = bases.get(place);
            byte[] bytes = base.bytes.clone();
            StringBuilder where = new StringBuilder("set " + place);
            for (int left = file.get(); left > 0; left--) {
                int at = file.getInt();
                byte[] edit = new byte[file.get()];
                file.get(edit);
                System.arraycopy(edit, 0, bytes, at, edit.length);
                where.append(", at ").append(at).append(' ').append(Arrays.toString(edit));
            }
            repair(bytes);
            int outcome = file.get();
            long digest = file.getLong();
            tried++;
            boolean isAccepted = false;
            String rows = null;
            try {
                CompiledSet set = CompiledSet.of(bytes);
                rows = answers(set, base.urls);
                set.verify();
                isAccepted = true;
            } catch (DamagedSetException refused) {
                Check.that(Arrays.asList(SECTIONS).contains(refused.section()) || refused.section().equals("header"), where);
            } catch (RuntimeException | StackOverflowError other) {
                Check.fail(where + ": " + other);
            }
            accepted += isAccepted ? 1 : 0;
            boolean isSame = rows != null && hash(rows) == digest;
            if (outcome == 2) {
                Check.that(isAccepted && isSame, where + ": the engine accepts it" + (isAccepted ? " with different answers" : ""));
            } else if (isAccepted) {
                lenient++;
                Check.that(isSame, where + ": the engine rejects it" + (outcome == 0 ? " when opening it" : " and has other answers"));
            } else {
                Check.that(true, where);
            }
        }
        System.out.println("damaged sets: " + accepted + " of " + tried + " with matching hashes are accepted; the engine rejects "
                + lenient + " of them, which give the same answers");
    }

    private static long hash(String rows) {
        byte[] bytes = rows.getBytes(StandardCharsets.UTF_8);
        return XxHash3.hash(bytes, 0, bytes.length, 0);
    }

    /** Returns a set's answers in the format of {@code mutants.rs}. */
    private static String answers(CompiledSet set, List<byte[]> urls) {
        StringBuilder rows = new StringBuilder();
        for (String name : AGENTS) {
            Agent agent;
            try {
                agent = set.agentUnchecked(Check.bytes(name));
            } catch (DamagedSetException refused) {
                rows.append("\u0001\u0001\n");
                continue;
            }
            for (byte[] url : urls) {
                row(rows, () -> String.valueOf(agent.decide(url).ordinal()));
                row(rows, () -> row(agent.explain(url)));
                for (int time = 0; set.isByTime() && time < TIMES.length; time++) {
                    long at = TIMES[time];
                    row(rows, () -> row(agent.explainAt(Utf8.shown(url), at)));
                }
            }
        }
        return rows.toString();
    }

    /** A method that returns an answer as a row. */
    private interface Row {
        String get();
    }

    private static void row(StringBuilder rows, Row row) {
        try {
            rows.append(row.get());
        } catch (DamagedSetException refused) {
            rows.append('\u0001');
        }
        rows.append('\n');
    }

    private static String row(Explanation answer) {
        int cause = Arrays.asList(Reason.NO_CAUSE, Reason.STATUS, Reason.TOO_MANY_REDIRECTS, Reason.NETWORK_ERROR, Reason.NOT_TEXT,
                Reason.TOO_LARGE, Reason.UNREACHABLE, Reason.NOT_FOUND_PAGE, Reason.CHALLENGE_PAGE).indexOf(answer.reason());
        String reason = cause >= 0 ? cause + " " + answer.number() : "";
        switch (answer.reason()) {
            case RULE:
                reason = "rule " + (answer.isFromLastGoodCopy() ? 1 : 0);
                break;
            case NO_RULE_MATCHES:
            case NO_GROUP:
                reason = "no rule";
                break;
            case NO_ROBOTS_TXT:
                reason = "no robots";
                break;
            case NOT_A_URL:
                reason = "no url";
                break;
            default:
        }
        String rule = answer.rule().map(found -> found.line() + " " + found).orElse("");
        return answer.verdict().ordinal() + "\t" + reason + "\t" + rule;
    }

    /** Runs many queries. Returns whether all were answered. Throws if one fails other than by rejecting the set. */
    private static boolean ask(byte[] bytes, List<byte[]> urls, String where) {
        boolean answered = true;
        try {
            CompiledSet set = CompiledSet.of(bytes);
            for (String name : new String[] {"GPTBot", "*"}) {
                Agent agent = set.agentUnchecked(Check.bytes(name));
                for (byte[] url : urls) {
                    answered &= asks(() -> agent.decide(url), where) & asks(() -> agent.explain(url), where);
                }
                if (set.isByTime()) {
                    answered &= asks(() -> agent.decideAt(Utf8.shown(urls.get(0)), 1_700_000_000L), where);
                }
            }
        } catch (DamagedSetException refused) {
            return false;
        } catch (RuntimeException | StackOverflowError other) {
            Check.fail(where + ": " + other);
        }
        return answered;
    }

    private static boolean asks(Check.Work work, String where) {
        try {
            work.run();
            return true;
        } catch (DamagedSetException refused) {
            return false;
        } catch (Exception | StackOverflowError other) {
            Check.fail(where + ": " + other);
            return false;
        }
    }

    /** Updates all hashes. */
    private static void repair(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int count = Math.max(0, Math.min(SECTIONS.length, buffer.getInt(20)));
        for (int entry = 0; entry < count; entry++) {
            long start = buffer.getLong(64 + 32 * entry + 8);
            long length = buffer.getLong(64 + 32 * entry + 16);
            if (start >= 0 && length >= 0 && start <= bytes.length && length <= bytes.length - start) {
                buffer.putLong(64 + 32 * entry + 24, XxHash3.hash(bytes, (int) start, (int) length, 0));
            }
        }
        buffer.putLong(56, 0);
        buffer.putLong(56, XxHash3.hash(bytes, 0, 64 + 32 * count, 0));
    }
}
