package reptile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** Damaged sets: cut, with a byte changed, and with a byte changed and all hashes made to match. */
final class DamageTest {
    private static final String[] SECTIONS = Container.NAMES;

    private static final int INDEX = Arrays.asList(SECTIONS).indexOf("index");
    private static final int RULESETS = Arrays.asList(SECTIONS).indexOf("rulesets");

    private static final boolean IS_FULL = Boolean.getBoolean("reptile.full");
    private static final int[] ALL_MASKS = {1, 2, 4, 8, 16, 32, 64, 128, 0xFF};

    private DamageTest() {}

    static void run(Path golden, Path data) throws Exception {
        byte[] bytes = Files.readAllBytes(golden.resolve("v3.set"));
        List<byte[]> urls = new ArrayList<>();
        List<String[]> rows = Check.rows(golden.resolve("v3.tsv"));
        // Some of the questions, since they are asked of tens of thousands of sets.
        for (int row = 0; row < rows.size() / 2; row += 3) {
            urls.add(Check.bytes(rows.get(row)[1]));
        }
        cut(bytes);
        flipped(bytes, urls);
        mended(bytes, urls);
        // A set by time, with patches, several groups of a token, wildcards in wildcards and fallback patterns.
        byte[] rich = Files.readAllBytes(data.resolve("damage/rich.reptile"));
        List<byte[]> richUrls = new ArrayList<>();
        for (String[] row : Check.rows(data.resolve("damage/rich.urls"))) {
            richUrls.add(Check.bytes(row[0]));
        }
        mended(rich, richUrls);
    }

    /** What is done to a byte: one bit of it is changed, another one for each byte; all with {@code -Dreptile.full=true}. */
    private static int[] masks(int at) {
        return IS_FULL ? ALL_MASKS : new int[] {ALL_MASKS[at % ALL_MASKS.length]};
    }

    /** A set is complete, or refused. */
    private static void cut(byte[] bytes) {
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            Check.refused(DamagedSetException.class, () -> CompiledSet.of(cut), "the first " + length + " bytes");
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        Check.refused(DamagedSetException.class, () -> CompiledSet.of(longer), "a byte too many");
    }

    /** Every byte changed: found by opening or by verify, and no question ends otherwise than with an answer or a refusal. */
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

    /** The same with hashes that match: refused, or it answers, without an error if verify accepts it. */
    private static void mended(byte[] bytes, List<byte[]> urls) {
        int accepted = 0;
        int tried = 0;
        BitSet headers = headers(bytes);
        for (int at = 64; at < bytes.length; at++) {
            for (int mask : headers.get(at) ? ALL_MASKS : masks(at)) {
                byte[] copy = bytes.clone();
                copy[at] ^= (byte) mask;
                mend(copy);
                String where = "byte " + at + " changed by " + mask + ", with hashes that match";
                boolean isAccepted = false;
                tried++;
                try {
                    CompiledSet.of(copy).verify();
                    isAccepted = true;
                    accepted++;
                } catch (DamagedSetException refused) {
                    Check.that(Arrays.asList(SECTIONS).contains(refused.section()) || refused.section().equals("header"), where);
                } catch (RuntimeException | StackOverflowError other) {
                    Check.fail(where + ": " + other);
                }
                boolean hasAnswers = ask(copy, urls, where);
                Check.that(hasAnswers || !isAccepted, where + ": accepted, and then refused");
            }
        }
        System.out.println("damaged sets: " + accepted + " of " + tried + " with matching hashes are accepted");
    }

    /** The headers of the automata, whose counts and offsets bound all the rest: they are changed in every way. */
    private static BitSet headers(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int index = (int) buffer.getLong(64 + 32 * INDEX + 8);
        int rulesets = (int) buffer.getLong(64 + 32 * RULESETS + 8);
        BitSet headers = new BitSet();
        int start = rulesets;
        for (int entry = 0; entry < buffer.getLong(64 + 32 * INDEX + 16); entry += 8) {
            int end = rulesets + (int) (buffer.getLong(index + entry) & 0xFFFFFFFFFFFFL);
            headers.set(start, Math.min(end, start + 1 + 8 * bytes[start]));
            start = end;
        }
        return headers;
    }

    /** Asks many questions. Whether all were answered; the only exception may be a refusal. */
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

    /** Makes all hashes match. */
    private static void mend(byte[] bytes) {
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
