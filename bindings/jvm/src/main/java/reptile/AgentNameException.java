package reptile;

/**
 * Thrown for a name that no robots.txt could contain, or that is probably misspelled. The message suggests what to
 * write instead.
 */
public final class AgentNameException extends ReptileException {
    private static final long serialVersionUID = 1;

    AgentNameException(String message) {
        super(message);
    }
}
