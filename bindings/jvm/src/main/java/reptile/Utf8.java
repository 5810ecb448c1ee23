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
        // Java writes a question mark for half of a pair. Only a text with such a mark and with surrogates needs the slow look.
        for (int at = 0; at < text.length() && bytes.length != text.length(); at++) {
            if (Character.isSurrogate(text.charAt(at))) {
                return strictBytes(text);
            }
        }
        return bytes.length == text.length() ? checked(text, bytes) : bytes;
    }

    /** A text as long as its bytes has no other characters than ASCII, and halves of pairs. */
    private static byte[] checked(String text, byte[] bytes) {
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == '?' && text.charAt(at) != '?') {
                return null;
            }
        }
        return bytes;
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
