package reptile;

import java.util.LinkedHashMap;
import java.util.Map;

/** Probable mistakes in the names of crawlers: names of operators and products, and near misses of known crawlers. */
final class Mistakes {
    /** Names of operators and products that are not product tokens, in lower case, after the tokens that they mean. */
    private static final String[][] BRANDS = {
        {"*", "all|all agents|all bots|all crawlers|all robots|all spiders|all user agents|all user-agents|any"
                + "|any bot|any bots|any crawler|any robot|anyone|bots|crawlers|default|every bot|everybody|everyone"
                + "|everything|robots|search engines|searchengines|spiders|star|[star]|(star)|wildcard"},
        {"GPTBot|ClaudeBot|CCBot|Google-Extended|meta-externalagent", "ai|ai bots|ai crawlers|ai-bots|aibots|llm"
                + "|llms"},
        {"AI2Bot", "ai2|allen ai"},
        {"Amazonbot", "alexa|amazon"},
        {"ClaudeBot|Claude-SearchBot|Claude-User", "anthropic|anthropic claude|claude|claude ai|claude.ai|claude-ai"},
        {"Applebot|Applebot-Extended", "apple"},
        {"Applebot-Extended", "apple ai|apple intelligence"},
        {"Baiduspider", "baidu"},
        {"Google-Extended", "bard|gemini|google ai|google bard|google gemini"},
        {"bingbot", "bing|bing chat|copilot|microsoft|microsoft copilot|msn"},
        {"Bytespider", "bytedance|tiktok"},
        {"GPTBot|OAI-SearchBot|ChatGPT-User", "chat gpt|chat-gpt|chatgpt|chatgpt bot|chatgpt-bot|chatgptbot|gpt"
                + "|gpt-3|gpt-4|gpt-5|open ai|open-ai|openai|openai bot|openai.com|openaibot"},
        {"cohere-ai|cohere-training-data-crawler", "cohere"},
        {"CCBot", "common crawl|common-crawl|commoncrawl"},
        {"DuckDuckBot", "duckduckgo"},
        {"facebookexternalhit", "facebook|instagram|whatsapp"},
        {"Googlebot", "google"},
        {"AdsBot-Google", "google ads"},
        {"Googlebot-Image", "google images"},
        {"Googlebot-News", "google news"},
        {"PetalBot", "huawei|petal|petal search"},
        {"meta-externalagent", "llama|meta ai"},
        {"MJ12bot", "majestic"},
        {"meta-externalagent|facebookexternalhit", "meta"},
        {"MistralAI-User", "mistral|mistral ai|mistralai"},
        {"PerplexityBot|Perplexity-User", "perplexity|perplexity ai|perplexity.ai|perplexityai"},
        {"OAI-SearchBot", "searchgpt"},
        {"Applebot", "siri"},
        {"Google-CloudVertexBot", "vertex ai"},
    };
    /** The tokens that each brand means. */
    static final Map<String, String[]> TOKENS = new LinkedHashMap<>();

    static {
        for (String[] row : BRANDS) {
            for (String brand : row[1].split("\\|")) {
                TOKENS.put(brand, row[0].split("\\|"));
            }
        }
    }

    private Mistakes() {}

    /** Returns the mistake in a name, as the end of a sentence with the remedy, or null if there probably is none. */
    static String mistake(String name, Crawlers crawlers) {
        String[] tokens = TOKENS.get(Names.lower(name));
        if (tokens != null) {
            return "which is not a crawler's name: " + (tokens[0].equals("*") ? "every crawler is \"*\"" : "write " + list(tokens));
        }
        String near = Names.near(name, crawlers);
        return near == null ? null : "which is nearly the crawler \"" + near + "\": write that";
    }

    private static String list(String[] tokens) {
        StringBuilder list = new StringBuilder("\"" + tokens[0] + "\"");
        for (int place = 1; place < tokens.length; place++) {
            list.append(place + 1 == tokens.length ? " or " : ", ").append('"').append(tokens[place]).append('"');
        }
        return list.toString();
    }
}
