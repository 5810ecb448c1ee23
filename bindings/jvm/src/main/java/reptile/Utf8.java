package reptile;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Converts between strings and UTF-8 bytes. */
final class Utf8 {
    private Utf8() {}

    /** Returns a string as UTF-8, or null if it contains an unpaired surrogate. */
    static byte[] bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // Java encodes an unpaired surrogate as a question mark, which would change the text. For ASCII, this
        // comparison is cheaper than looking at each character.
        boolean isAscii = bytes.length == text.length() && new String(bytes, StandardCharsets.ISO_8859_1).equals(text);
        return isAscii ? bytes : strictBytes(text);
    }

    private static byte[] strictBytes(String text) {
        try {
            ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        } catch (CharacterCodingException malformed) {
            return null;
        }
    }

    /** Decodes UTF-8, or returns null if it is invalid. */
    static String strict(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException malformed) {
            return null;
        }
    }

    /** Decodes UTF-8 for display; invalid bytes are replaced. */
    static String shown(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
