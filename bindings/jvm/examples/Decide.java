import java.nio.file.Path;
import reptile.Agent;
import reptile.CompiledSet;

/** Decides two URLs for GPTBot: {@code java -cp target/reptile.jar examples/Decide.java SET}. */
class Decide {
    public static void main(String[] arguments) throws Exception {
        CompiledSet set = CompiledSet.open(Path.of(arguments[0]));
        Agent agent = set.agent("GPTBot");
        for (String url : new String[] {"https://shop.example.com/cart?item=17", "https://shop.example.com/search/help"}) {
            System.out.println(agent.decide(url) + " " + agent.explain(url).rule().orElse(null) + " " + url);
        }
    }
}
