package reptile;

/** A text is not the name of a crawler that a robots.txt could name; the message says what to write instead. */
public final class AgentNameException extends ReptileException {
    private static final long serialVersionUID = 1;

    AgentNameException(String message) {
        super(message);
    }
}
