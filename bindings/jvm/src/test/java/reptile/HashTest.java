package reptile;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Compares the hash with the reference implementation at the lengths where its algorithm changes. */
final class HashTest {
    /** Length, then the hashes with the seeds 0 and 0x9E3779B185EBCA8D. */
    private static final String[] VALUES = {
        "0 2d06800538d394c2 a8a6b918b2f0364a",
        "1 4c5cca45d0f4811f fb9ffac0328029fc",
        "2 29c60963cbfa4e6e 13326d5234b07a03",
        "3 6e3e2670e61106ac ea2313880f3cdaea",
        "4 5c4c63133443d03f 9ed5758ad388108e",
        "5 49f5eb3111280b63 886bdaeaa658f8a9",
        "8 f9fd4dd0b04d78f5 cda4b01376fb6fee",
        "9 7c20df9712c26edf 61e9c4f6989e2ebe",
        "16 86abf6baccea0858 2c5dbcd9e84e88",
        "17 b58bf5dc5022d071 26c99ae8313daaf0",
        "32 e3712ed84c04a66e 8bdd66ab9a43c5d5",
        "33 a4dee99b093e1f73 2cc4c6aa8e0db410",
        "64 1291d2d4042330dd eb83e6b52d65e4a7",
        "65 97c6bf83217e5ec9 39899bd3ca4bea9c",
        "96 81296929fc063365 cd21449bb6b2a410",
        "97 f145a45b658ab9dd da89a1aeb54d8600",
        "128 10d17f72c0ccba41 687966cb6159cbc7",
        "129 1648bdc3db49d1a2 25b2d1a1f5780bfa",
        "144 b46dbfc6d9e31aba b1d699db68713295",
        "200 c0fbc0f4e181c826 ba578ce434a944cc",
        "239 f0d154819adb16cd a8db1a612740f74c",
        "240 b6cfaf343fab81e6 7a689e088cdb8a88",
        "241 956cae592c67279e d8e8bd54329068cb",
        "256 b15e550733c5dfac 118294e480ca89c7",
        "319 6b4de0ce2a267b53 c28806922bdf6832",
        "320 50c64a131ba9ddea 32d3bbac006e42ce",
        "1023 aa76836516a7ea30 a9e7172dfff0f1d0",
        "1024 a1e16f2edf2cbed6 9d64527ec06851b3",
        "1025 a6d2c17259fe4bb c296bcee14d9b943",
        "1088 ef0c0dc0e8682f1 1e0ed560da1e6a82",
        "1089 e9459411d2759a81 b27e8172ca30e1a0",
        "2048 1c81a12455515459 733e8cdbe90ffc5",
        "2049 e54b75096179fb9c c23550407b6bfe3d",
        "3100 d5b1c6ca25a296c4 59e6701d077518d1",
        "4096 48aa0572119e973a 9d8bb6278a77890c",
        "4097 377f136744508714 4831ba44f296af6f",
        "5000 aedbe953d207917d 40aacd8fab173792",
    };

    private HashTest() {}

    static void run() {
        byte[] text = new byte[5000];
        for (int at = 0; at < text.length; at++) {
            text[at] = (byte) (at * 131 + (at >> 8) * 17 + 7);
        }
        for (String value : VALUES) {
            String[] cells = value.split(" ");
            int length = Integer.parseInt(cells[0]);
            Check.equal(cells[1], Long.toHexString(XxHash3.hash(text, 0, length, 0)), length + " bytes");
            Check.equal(cells[2], Long.toHexString(XxHash3.hash(text, 0, length, 0x9E3779B185EBCA8DL)), length + " bytes with a seed");
            Bytes bytes = Bytes.of(Arrays.copyOf(text, length), Bytes.STRIDE_BITS);
            Check.equal(cells[1], Long.toHexString(XxHash3.hash(bytes, 0, length)), length + " bytes of a file");
            Bytes parts = Bytes.of(Arrays.copyOf(text, length), 10);
            Check.equal(cells[1], Long.toHexString(XxHash3.hash(parts, 0, length)), length + " bytes in parts");
        }
        // Examples from FORMAT.md.
        byte[] host = "example.com".getBytes(StandardCharsets.US_ASCII);
        Check.equal("8b66107e8045bb73", Long.toHexString(XxHash3.hash(host, 0, host.length, 0)), "a host");
        long origin = Origins.hash(host, 0, host.length, 1, 443, 0);
        Check.equal("a5183167bd814127", Long.toHexString(origin), "an origin");
        Check.equal(6L, XxHash3.unsignedHigh(origin, 10), "its bucket of ten");
        byte[] shifted = new byte[text.length + 3];
        System.arraycopy(text, 0, shifted, 3, text.length);
        Check.equal(XxHash3.hash(text, 0, 700, 5), XxHash3.hash(shifted, 3, 700, 5), "a part of an array");
        Bytes aside = Bytes.of(shifted, 10);
        Check.equal(XxHash3.hash(text, 0, 4900, 0), XxHash3.hash(aside, 3, 4900), "a part of a file in parts");
    }
}
