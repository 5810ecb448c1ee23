//! The plan of a `filter` run: its options, resolved once.

use reptile::Verdict;
use reptile::usage::UnknownUsage;
use reptile_records::place::Place;
use reptile_records::trees::NamedFile;

use super::args::Args;
use crate::error::{Failure, Result};
use crate::failures::KeepGoing;
use crate::options::{RightsOptions, SetOptions};
use crate::outputs::kept::FolderOptions;
use crate::same_file::{refuse_inside, refuse_overwriting};

/// A run's inputs, questions and outputs.
pub struct Plan {
    pub inputs: Vec<Place>,
    pub set: Place,
    pub set_options: SetOptions,
    pub agents: Vec<String>,
    /// Whether one allowed agent is enough.
    pub any: bool,
    /// Whether records with each verdict are kept, by verdict number.
    pub keeps: [bool; Verdict::ALL.len()],
    pub rights: RightsOptions,
    /// The use that kept pages must permit, and the meaning of unknown uses.
    pub purpose: Option<(String, UnknownUsage)>,
    pub destination: Destination,
    pub force: bool,
    pub in_folder: FolderOptions,
    pub keep_going: KeepGoing,
    /// Whether damaged archives are searched for the next record.
    pub resync: bool,
}

/// Where the records go.
pub enum Destination {
    /// Each archive under its own name to a folder.
    Folder { path: Place, inputs: Vec<NamedFile> },
    /// All to one file; `None` is standard output.
    One(Option<Place>),
    /// Nowhere: they are only counted.
    Count,
}

impl Plan {
    /// Resolves the options.
    ///
    /// # Errors
    /// Returns an error if options contradict each other, if an archive does not exist, or if the output is an input.
    pub fn resolve(args: Args) -> Result<Plan> {
        let is_folder = |output: &Place| output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
        let (inputs, destination) = match args.output {
            Some(path) if is_folder(&path) => {
                refuse_inside(&path, &args.inputs)?;
                let named = args.files_from.expand_named(&args.inputs)?;
                let inputs = named.iter().map(|file| file.path.clone()).collect();
                (inputs, Destination::Folder { path, inputs: named })
            }
            output => {
                let destination = if args.dry_run { Destination::Count } else { Destination::One(output) };
                (args.files_from.expand(&args.inputs)?, destination)
            }
        };
        let is_folder = matches!(destination, Destination::Folder { .. });
        if args.keep_going.keep_going && !is_folder && !args.dry_run {
            return Err(Failure::new(
                "--keep-going requires -o with a folder, which gets a file for each archive, or --dry-run: records that \
                 were written to one output cannot be removed from it",
            ));
        }
        let FolderOptions { resume, follow_links } = args.in_folder;
        for (option, is_given) in [("--resume", resume.is_some()), ("--follow-links", follow_links)] {
            if is_given && !is_folder {
                let message = format!("{option} requires -o with a folder, which gets a file for each archive");
                return Err(Failure::new(message));
            }
        }
        match &destination {
            Destination::Folder { path, .. } => refuse_overwriting(path, [&args.set])?,
            Destination::One(Some(path)) => refuse_overwriting(path, inputs.iter().chain([&args.set]))?,
            _ => {}
        }
        let (unknown, invalid) = (args.purpose.unknown()?, args.purpose.invalid()?);
        let keeps = Verdict::ALL.map(|verdict| match verdict {
            Verdict::Unknown => unknown == Some(Verdict::Allow),
            Verdict::Invalid => invalid == Some(Verdict::Allow),
            verdict => verdict == Verdict::Allow,
        });
        Ok(Plan {
            inputs,
            set: args.set,
            set_options: args.options,
            agents: args.agents,
            any: args.any,
            keeps,
            rights: args.rights,
            purpose: args.purpose.given()?.map(|(purpose, unknown)| (purpose.to_owned(), unknown)),
            destination,
            force: args.force,
            in_folder: args.in_folder,
            keep_going: args.keep_going,
            resync: args.archives.resync,
        })
    }

    /// Returns the only output file, if there is one.
    pub fn file(&self) -> Option<&Place> {
        match &self.destination {
            Destination::One(file) => file.as_ref(),
            _ => None,
        }
    }
}
