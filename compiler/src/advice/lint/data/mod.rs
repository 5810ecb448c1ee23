//! Data of findings: characters, words and folders. The tests compare them with each other and with the known crawlers.

pub(super) mod assets;
pub(super) mod characters;
pub(super) mod words;
