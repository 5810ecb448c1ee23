//! `reptile completions` and `reptile man`, generated from the command line's definition.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::error::{Exit, Failure, Result};
use crate::outputs::file::print;

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reptile completions bash > ~/.local/share/bash-completion/completions/reptile
  reptile completions zsh > ~/.zfunc/_reptile
  reptile completions fish > ~/.config/fish/completions/reptile.fish

Exit code: 0 done; 2 the command failed.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page for reptile, or for one of its commands
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reptile man > ~/.local/share/man/man1/reptile.1
  reptile man classify | man -l -

Exit code: 0 done; 2 the command failed.")]
pub struct ManArgs {
    /// A command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Prints the completions.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "reptile", &mut script);
    print(script)?;
    Ok(Exit::Done)
}

/// Prints the manual page.
///
/// # Errors
/// Returns an error if there is no such command, or standard output cannot be written.
pub fn man(args: &ManArgs, mut command: Command) -> Result<Exit> {
    command.build();
    let shown = match &args.command {
        None => command,
        Some(name) => {
            let found = command.get_subcommands().find(|sub| sub.get_name() == name).cloned();
            let found = found.ok_or_else(|| Failure::new(format!("no such command: {name:?}; see reptile --help")))?;
            found.display_name(format!("reptile-{name}")).bin_name(format!("reptile {name}"))
        }
    };
    let mut page = Vec::new();
    let tool = concat!("reptile ", env!("CARGO_PKG_VERSION"));
    Man::new(shown).source(tool).render(&mut page).map_err(Failure::new)?;
    print(page)?;
    Ok(Exit::Done)
}
