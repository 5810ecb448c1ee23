package reptile;

/** The base class of exceptions about sets and names. Unreadable files are an {@link java.io.IOException}. */
public class ReptileException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message what was expected and found
     */
    protected ReptileException(String message) {
        super(message);
    }
}
