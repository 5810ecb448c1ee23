import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import reptile.Agent;
import reptile.CompiledSet;
import reptile.Scope;
import reptile.natives.Capture;
import reptile.natives.SetCompiler;

/** Compiles a set, and decides a URL by it. */
public class Consumer {
    /** Runs the program: {@code java Consumer SET}. */
    public static void main(String[] arguments) throws Exception {
        byte[] body = "user-agent: *\ndisallow: /cart\n".getBytes(StandardCharsets.UTF_8);
        try (SetCompiler compiler = SetCompiler.of("google").create()) {
            compiler.add(Capture.of("https://www.example.com/robots.txt").withBody(body));
            CompiledSet set = compiler.finish(Path.of(arguments[0]), true);
            Agent agent = set.agent("GPTBot");
            System.out.println(Scope.WWW.explain(agent, "https://example.com/cart/1"));
        }
    }
}
