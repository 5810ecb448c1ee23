import java.nio.charset.StandardCharsets;
import reptile.natives.OneShot;

/** Decides a URL directly from a robots.txt's bytes: {@code java -cp JARS examples/Once.java}. */
class Once {
    public static void main(String[] arguments) {
        byte[] body = "user-agent: *\ndisallow: /cart\n".getBytes(StandardCharsets.UTF_8);
        OneShot oneShot = new OneShot("GPTBot", "google");
        System.out.println(oneShot.decide(body, "https://shop.example.com/cart?item=17"));
    }
}
