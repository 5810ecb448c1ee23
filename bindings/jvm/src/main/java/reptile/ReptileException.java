package reptile;

/** The base of every exception that this library throws about a set or a name; files that cannot be read are an {@link java.io.IOException}. */
public class ReptileException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ReptileException(String message) {
        super(message);
    }
}
