#!/bin/bash -eu
# Builds the targets for OSS-Fuzz, each with its seeds and its dictionary.
cd "$SRC/reptile"
cargo fuzz build --release --debug-assertions
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    [ ! -d "fuzz/seeds/$target" ] || (cd "fuzz/seeds/$target" && zip -q "$OUT/${target}_seed_corpus.zip" ./*)
    [ ! -e "fuzz/dictionaries/$target.dict" ] || cp "fuzz/dictionaries/$target.dict" "$OUT/"
done
