/**
 * Functions that Reptile's plain Java reader lacks, from a native library: {@link reptile.natives.OneShot} decides
 * directly from a robots.txt's bytes, {@link reptile.natives.SetCompiler} compiles sets, and
 * {@link reptile.natives.AccessReader} reports what crawlers may fetch from an origin.
 *
 * <p>The jar contains the library for some platforms. For others, build it with cargo, and name it in the property
 * {@code reptile.natives.library}. No misuse of these classes ends the virtual machine: closed objects, invalid values
 * and errors in the library cause exceptions.
 */
package reptile.natives;
