package reptile.natives;

import reptile.ReptileException;

/**
 * Thrown for a capture that cannot be compiled, for example because its URL is not a robots.txt URL or its body is too
 * large, and for captures that do not fit into one set.
 */
public final class CompileException extends ReptileException {
    private static final long serialVersionUID = 1;

    CompileException(String message) {
        super(message);
    }
}
