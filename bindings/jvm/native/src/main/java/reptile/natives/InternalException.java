package reptile.natives;

import reptile.ReptileException;

/** Thrown for an error in the native library itself. Please report it. */
public final class InternalException extends ReptileException {
    private static final long serialVersionUID = 1;

    InternalException(String message) {
        super(message);
    }
}
