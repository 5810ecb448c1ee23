package reptile;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * URL splitting, host normalization and normal forms, from tables and at limits. {@link CompareTest} compares many more
 * URLs with the command.
 */
final class UrlTest {
    private UrlTest() {}

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    static void run() {
        splits();
        paths();
        hosts();
        forms();
        limits();
    }

    private static String split(String text) {
        Url url = Url.split(utf8(text));
        if (url == null) {
            return null;
        }
        String host = new String(url.text, url.hostFrom, url.hostTo - url.hostFrom, StandardCharsets.UTF_8);
        String path = new String(url.path, url.pathFrom, url.pathTo - url.pathFrom, StandardCharsets.UTF_8);
        return url.scheme + " " + host + " " + url.port + " " + path;
    }

    private static void splits() {
        String[][] table = {
            {"https://user@Example.com:8443/a?b#c", "1 Example.com 8443 /a?b"},
            {"HTTP://h", "0 h 80 /"}, {"ftp://h/", "2 h 21 /"}, {"http://h?q", "0 h 80 /?q"}, {"http://h#/x", "0 h 80 /"},
            {"http://h:/x", "0 h 80 /x"}, {"http://h:0/", "0 h 0 /"}, {"http://h:00080/", "0 h 80 /"}, {"http://h:65535/", "0 h 65535 /"},
            {"http://u:p%40@h/", "0 h 80 /"}, {"http://[::1]:81/", "0 [::1] 81 /"}, {"http://a%2Eb/", "0 a%2Eb 80 /"},
            {"http://h/\\;@", "0 h 80 /\\;@"}, {"http://b\u00fccher/", "0 b\u00fccher 80 /"},
            {"http://h:65536/", null}, {"http://h:8x/", null}, {"http://h:+1/", null}, {"", null}, {"http://", null}, {"http:///a", null},
            {"http:/a", null}, {" http://a/", null}, {"gopher://a/", null}, {"://a/", null}, {"//a/", null}, {"httpx://a/", null},
            {"http://a\\@b/", null}, {"http://a;@b/", null}, {"http://a\tb/", null}, {"http://a%2Fb/", null}, {"http://a@b@c/", null},
            {"http://[a]@b/", null}, {"http://a b@c/", null}, {"http://a%@b/", null}, {"http://a b/", null}, {"http://[::1/", null},
            {"http://[::1]x/", null}, {"http://[::1]]/", null}, {"http://a[b/", null}, {"http://@/", null}, {"http://a%/", null},
            {"http://\u00e9@h/", null}, {"http://h/a\tb", null}, {"http://h/a#\n", null}, {"http://h/\0", null}, {"http://h/\u0001", "0 h 80 /\u0001"},
            {"http://b%FCcher/", null}, {"http://b%C3/", null}, {"http://b%C3%BCcher/", "0 b%C3%BCcher 80 /"}, {"http://h/%FC", "0 h 80 /%FC"},
        };
        for (String[] row : table) {
            Check.equal(row[1], split(row[0]), row[0]);
        }
        Check.that(Url.split("http://b\u00fccher/".getBytes(StandardCharsets.ISO_8859_1)) == null, "a host in Latin-1");
        Check.that(Url.split("http://h/\u00fc".getBytes(StandardCharsets.ISO_8859_1)) != null, "a path in Latin-1");
        Check.that(Utf8.bytes("http://h/\ud800") == null && Utf8.bytes("http://h/\u00e9\ud800") == null, "an unpaired surrogate");
        Check.equal("http://h/\ud83d\ude00?", text(Utf8.bytes("http://h/\ud83d\ude00?")), "a pair");
    }

    private static void paths() {
        String[][] table = {
            {"", "/"}, {"a/b", "/b"}, {"http://e.com;p", "/;p"}, {"//a/b/c", "/b/c"}, {"x://y://z/w", "//z/w"}, {"http://e.com#/x", "/"},
            {"?q", "/?q"}, {"http:/x", "/x"}, {"://a", "/"}, {"://h/a", "/a"}, {"http://h/a#?b", "/a"}, {"http://h/a\0#b", "/a"},
            {"http://h\0/a", "/a"}, {"#/a", "/"}, {"//", "/"}, {"/", "/"}, {"/a#b", "/a"}, {"///a", "/a"}, {"http:////a", "//a"},
        };
        for (String[] row : table) {
            Url url = Url.pathOf(utf8(row[0]));
            Check.equal(row[1], new String(url.path, url.pathFrom, url.pathTo - url.pathFrom, StandardCharsets.UTF_8), "path of " + row[0]);
        }
    }

    private static void hosts() {
        String[][] table = {
            {"EXAMPLE%2Ecom.", "example.com"}, {"example.com..", null}, {".", null}, {"a_b.example", "a_b.example"}, {"a%2", null},
            {"a%2525", null}, {"a b", null}, {"b\u00e1\ufffdr", null}, {"127.0.0.1.", "127.0.0.1"}, {"0x7F.1", "127.0.0.1"},
            {"0177.0.0.1", "127.0.0.1"}, {"2130706433", "127.0.0.1"}, {"1.2.65535", "1.2.255.255"}, {"1.2.65536", null},
            {"4294967295", "255.255.255.255"}, {"4294967296", null}, {"1.2.3.08", null}, {"1.2.3.4.5", null}, {"1..2", null}, {"0x", "0.0.0.0"},
            {"1.2.3.4.example", "1.2.3.4.example"}, {"a.7", null}, {"[0:0:0:0:0:0:0:1]", "[::1]"}, {"[2001:DB8:0::A]", "[2001:db8::a]"},
            {"[::1%25eth0]", null}, {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"}, {"[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]"},
            {"[1::2::3]", null}, {"[1:2:3:4:5:6:7:8:9]", null}, {"[1:2:3:4:5:6:7::8]", null}, {"[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"},
            {"[::FFFF:102:304]", "[::ffff:1.2.3.4]"}, {"[::1.2.3.4]", "[::102:304]"}, {"[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"},
            {"[::1.2.3.256]", null}, {"[::01.2.3.4]", null}, {"[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"}, {"[1:0:0:2:0:0:3:4]", "[1::2:0:0:3:4]"},
            {"[]", null}, {"[:]", null}, {"[::]", "[::]"}, {"[:::]", null}, {"[12345::]", null}, {"[1.2.3.4::]", null},
        };
        for (String[] row : table) {
            byte[] host = utf8(row[0]);
            Check.equal(row[1], text(Hosts.canonical(host, 0, host.length)), row[0]);
        }
        byte[] latin = {'b', (byte) 0xE1, 'r'};
        Check.that(Hosts.canonical(latin, 0, 3) == null, "a host that is not UTF-8");
        byte[] name = utf8("B%C3%9CCHER.example");
        Check.equal(hasTables() ? "xn--bcher-kva.example" : null, text(Hosts.canonical(name, 0, name.length)), "a name beyond ASCII");
    }

    /** Returns whether ICU4J is available. */
    static boolean hasTables() {
        try {
            Class.forName("com.ibm.icu.text.IDNA");
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    private static void forms() {
        Object[][] table = {
            {NormalForm.AS_WRITTEN, "/%c3\u00e9*", "/%c3\u00e9*"}, {NormalForm.ESCAPED, "/\u00e9%c3%62*$", "/%C3%A9%C3%62*$"},
            {NormalForm.DECODED, "/%7ea%2f%3A%41", "/~a%2F%3AA"}, {NormalForm.DECODED, "/a b?c=d:e/f", "/a%20b?c=d:e/f"},
            {NormalForm.DECODED, "/a*b$c$", "/a%2Ab%24c%24"}, {NormalForm.DECODED, "/100%", "/100%25"}, {NormalForm.DECODED, "/%%341", "/%2541"},
            {NormalForm.DECODED, "/\u0001", "/\u0001"}, {NormalForm.RESERVED, "/\u0001\u007f:", "/%01%7F%3A"},
            {NormalForm.RESERVED, "/a?b?c/d", "/a?b%3Fc%2Fd"}, {NormalForm.RESERVED, "/%3Fa?b/", "/%3Fa?b%2F"},
            {NormalForm.FULLY_DECODED, "/%2f%25%00%0a%41*$%2A%24%", "/%2F%25%00%0AA\0\n\0\n%25"}, {NormalForm.VERBATIM, "/%2f*$", "/%2f\0\n"},
        };
        for (Object[] row : table) {
            byte[] in = utf8("x" + row[1] + "y");
            byte[] out = ((NormalForm) row[0]).path(in, 1, in.length - 1);
            Check.equal(row[2], out == null ? row[1] : text(out), row[0] + " " + row[1]);
        }
    }

    private static void limits() {
        for (int over = -1; over <= 1; over++) {
            byte[] url = new byte[Url.MAX_URL_BYTES + over];
            Arrays.fill(url, (byte) 'a');
            System.arraycopy(utf8("http://h/"), 0, url, 0, 9);
            Check.equal(over <= 0, Url.split(url) != null, "a URL of " + url.length + " bytes");
            String host = "h".repeat(Hosts.MAX_HOST_BYTES + over);
            Check.equal(over <= 0, Url.split(utf8("http://" + host + "/")) != null, "a host of " + host.length() + " bytes");
            byte[] escaped = utf8(host.substring(1) + "%48");
            Check.equal(over <= 0, Hosts.canonical(escaped, 0, escaped.length) != null, "an escaped host");
        }
    }
}
