package reptile;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Texts as bytes, and bytes as texts. */
final class Utf8 {
    private Utf8() {}

    /** The bytes of a text in UTF-8; null if it has half of a surrogate pair, which has no bytes in UTF-8. */
    static byte[] bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // Java writes a question mark for half of a pair, so that the text is not what the bytes say. For ASCII this comparison costs
        // less than a look at each character.
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

    /** The text of bytes; null if they are not valid UTF-8. */
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

    /** The text of bytes that a person reads; what is not valid is replaced. */
    static String shown(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
