//! Writes the families of hostile files: families FOLDER BYTES. The compiler's tests define them.

#[allow(dead_code)]
#[path = "../../../../compiler/tests/support/families.rs"]
mod families;
#[allow(dead_code)]
#[path = "../../../../compiler/tests/support/tool_families.rs"]
mod tool_families;

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(args.next().expect("a folder"));
    let bytes: usize = args.next().expect("a size in bytes").parse().expect("a number");
    let recipes = tool_families::tool_families(bytes);
    let all = families::families().into_iter().chain(recipes.iter().map(tool_families::Recipe::family));
    for (number, family) in all.enumerate() {
        std::fs::write(folder.join(format!("{number:03}.txt")), &family.body).expect("write the file");
        println!("{number:03}.txt\t{}\t{}", family.agent, family.name);
    }
}
