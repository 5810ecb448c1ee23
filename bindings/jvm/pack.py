"""Writes a jar that depends only on its contents: entries are sorted and have a fixed time.

    pack.py JAR VERSION MODULE FOLDER...

The jar has a manifest, both licenses in META-INF, and the files below each folder. MODULE is the name of the Java
module, or `-` for a jar without classes. Before JDK 17, `jar` writes the current time into the archive.
"""

import pathlib
import sys
import zipfile

LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


def main() -> None:
    """Collects the files and writes the jar."""
    jar, version, module, *folders = sys.argv[1:]
    manifest = "Manifest-Version: 1.0\n"
    if module != "-":
        manifest += f"Automatic-Module-Name: {module}\n"
    manifest += f"Implementation-Version: {version}\n\n"
    files = {"META-INF/MANIFEST.MF": manifest.encode()}
    files |= {f"META-INF/{name}": (REPOSITORY / name).read_bytes() for name in LICENSES}
    for folder in map(pathlib.Path, folders):
        found = {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
        files |= dict(sorted(found.items()))
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 2, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)


main()
