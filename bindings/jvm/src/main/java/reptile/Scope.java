package reptile;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The origins that may decide a URL: its own, or another origin if the set has no robots.txt for its own. The scopes
 * and their order are the same as for {@code reptile classify --scope}. Immutable, and safe for use by any number of
 * threads at once.
 *
 * <p>A robots.txt governs only its own origin (RFC 9309 section 2.3), so use a wider scope only if a verdict by a
 * related origin is better than {@link Verdict#UNKNOWN}. FTP URLs, and URLs with a port that is not their scheme's
 * default, are decided only by their own origin. IP addresses have no other host.
 *
 * <pre>{@code
 * Verdict verdict = Scope.WWW.decide(agent, "https://example.com/private/1");
 * Scope domain = Scope.domain(host -> EffectiveTldFinder.getAssignedDomain(host, true, false));
 * }</pre>
 *
 * <p>Time: as without a scope if the set has the URL's own origin; otherwise also an origin lookup for each of up to 7
 * other origins, the nearest host first.
 */
public final class Scope {
    /** Only the URL's own origin, as {@link Agent#decide(String)}. */
    public static final Scope ORIGIN = new Scope("origin", null);
    /** Also the same host with the other scheme, http or https. */
    public static final Scope SCHEME = new Scope("scheme", null);
    /** Also the host with or without {@code www.} before it, with both schemes. */
    public static final Scope WWW = new Scope("www", null);

    private static final String[] SCHEMES = {"http", "https"};
    private static final int[] PORTS = {80, 443};
    private static final String WWW_LABEL = "www.";

    private final String name;
    private final UnaryOperator<String> registeredDomain;

    private Scope(String name, UnaryOperator<String> registeredDomain) {
        this.name = name;
        this.registeredDomain = registeredDomain;
    }

    /**
     * Returns the widest scope: also the host's registered domain, with and without {@code www.} before it.
     *
     * <p>This library has no copy of the Public Suffix List, so the caller supplies a function that uses it, such as
     * {@code EffectiveTldFinder.getAssignedDomain} from crawler-commons or {@code InternetDomainName} from Guava. To
     * agree with {@code reptile classify --scope domain}, the function must use the list's private section: the
     * registered domain of {@code www.someone.github.io} is {@code someone.github.io}. Functions and versions of the
     * list differ for a few hosts, such as those below a top-level domain that the list lacks.
     *
     * @param registeredDomain maps a host in lower case, with A-labels and not an IP address, to its registered domain,
     *     or to null if there is none. A result other than the host or its end after a dot counts as null. This
     *     scope's methods pass on any exception that the function throws.
     * @return the scope
     * @throws NullPointerException if the function is null
     */
    public static Scope domain(UnaryOperator<String> registeredDomain) {
        return new Scope("domain", Objects.requireNonNull(registeredDomain, "the function for registered domains"));
    }

    /**
     * Returns the scope with a name.
     *
     * @param name {@code origin}, {@code scheme} or {@code www}
     * @return empty for another name, including {@code domain}, which needs a function: see {@link #domain}
     * @throws NullPointerException if the name is null
     */
    public static Optional<Scope> fromName(String name) {
        Objects.requireNonNull(name, "the name of a scope");
        return List.of(ORIGIN, SCHEME, WWW).stream().filter(scope -> scope.name.equals(name)).findAny();
    }

    /**
     * Returns the scope's name, as in {@code reptile classify --scope}.
     *
     * @return {@code origin}, {@code scheme}, {@code www} or {@code domain}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the verdict for one URL by the nearest origin in the scope that the set knows.
     *
     * @param agent the crawler
     * @param url an absolute URL, or null
     * @return the verdict, or null if the URL is null
     * @throws NullPointerException if the agent is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdict decide(Agent agent, String url) {
        return url == null ? null : agent.site(this, url, null).verdict(agent);
    }

    /**
     * Returns the verdicts for many URLs, in the same order.
     *
     * @param agent the crawler
     * @param urls the URLs; any of them may be null
     * @return one verdict per URL; null for a null URL
     * @throws NullPointerException if the agent or the list is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public List<Verdict> decideAll(Agent agent, List<String> urls) {
        List<Verdict> verdicts = new ArrayList<>(urls.size());
        for (String url : urls) {
            verdicts.add(decide(agent, url));
        }
        return verdicts;
    }

    /**
     * Returns the verdict for one URL by the rules that were active at a time.
     *
     * @param agent the crawler
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return the verdict, or null if the URL is null
     * @throws NullPointerException if the agent is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Verdict decideAt(Agent agent, String url, long time) {
        agent.checkTimes();
        return url == null ? null : agent.site(this, url, time).verdict(agent);
    }

    /**
     * Returns the verdict for one URL with its reasons. {@link Explanation#standIn} is the other origin, if one
     * decided.
     *
     * @param agent the crawler
     * @param url an absolute URL, or null
     * @return the explanation, or null if the URL is null
     * @throws NullPointerException if the agent is null
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Explanation explain(Agent agent, String url) {
        return url == null ? null : agent.site(this, url, null).explain(agent);
    }

    /**
     * Returns the verdict for one URL by the rules that were active at a time, with its reasons.
     *
     * @param agent the crawler
     * @param url an absolute URL, or null
     * @param time seconds since 1970
     * @return the explanation, or null if the URL is null
     * @throws NullPointerException if the agent is null
     * @throws IllegalStateException if the set was not compiled by time
     * @throws DamagedSetException if the set is found to be damaged
     */
    public Explanation explainAt(Agent agent, String url, long time) {
        agent.checkTimes();
        return url == null ? null : agent.site(this, url, time).explain(agent);
    }

    /** A URL that is decided instead of another URL. */
    static final class StandIn {
        /** An origin, such as {@code https://www.example.com}. */
        final String origin;
        /** The URL with that origin and the other URL's path. */
        final byte[] url;

        StandIn(String origin, byte[] path) {
            this.origin = origin;
            byte[] start = origin.getBytes(StandardCharsets.ISO_8859_1);
            url = new byte[start.length + path.length];
            System.arraycopy(start, 0, url, 0, start.length);
            System.arraycopy(path, 0, url, start.length, path.length);
        }
    }

    /** Returns the URLs to decide instead of a URL, the nearest first. */
    List<StandIn> standIns(Url url) {
        if (url.scheme >= SCHEMES.length || url.port != PORTS[url.scheme]) {
            return Collections.emptyList();
        }
        byte[] canonical = Hosts.canonical(url.text, url.hostFrom, url.hostTo);
        if (canonical == null) {
            return Collections.emptyList();
        }
        byte[] path = java.util.Arrays.copyOfRange(url.path, url.pathFrom, url.pathTo);
        String own = new String(canonical, StandardCharsets.ISO_8859_1);
        List<StandIn> standIns = new ArrayList<>();
        for (String host : hosts(own)) {
            for (int scheme : new int[] {url.scheme, 1 - url.scheme}) {
                if (scheme != url.scheme || !host.equals(own)) {
                    standIns.add(new StandIn(SCHEMES[scheme] + "://" + host, path));
                }
            }
        }
        return standIns;
    }

    /** Returns a normalized host and the hosts that may decide instead of it, without duplicates. */
    private List<String> hosts(String host) {
        List<String> hosts = new ArrayList<>();
        hosts.add(host);
        if (this == SCHEME || Hosts.isAddress(host)) {
            return hosts;
        }
        hosts.add(host.startsWith(WWW_LABEL) ? host.substring(WWW_LABEL.length()) : WWW_LABEL + host);
        String domain = registeredDomain == null ? null : registeredDomain.apply(host);
        if (domain != null && !domain.isEmpty() && (host.equals(domain) || host.endsWith("." + domain))) {
            for (String other : new String[] {domain, WWW_LABEL + domain}) {
                if (!hosts.contains(other)) {
                    hosts.add(other);
                }
            }
        }
        return hosts;
    }

    /** Returns the scope's name. */
    @Override
    public String toString() {
        return name;
    }
}
