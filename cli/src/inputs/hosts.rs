//! The hosts that files are named after, and the origins that a name stands for.
//!
//! The first part of a path inside an input is the host, or `host:port`; the rest does not matter, so that `example.com`
//! and `example.com/robots.txt` mean the same.

use std::path::Path;

use reptile_compiler::set::origin::OwnedOrigin;
use reptile_engine::url::{Scheme, UrlError, origin_of};

use super::{Item, Sink, shown};
use crate::error::Result;

/// How the name of a file becomes origins.
pub enum Naming {
    /// The name is a host, and stands for an origin of each of these schemes.
    Hosts(Vec<Scheme>),
    /// The name does not matter, and stands for no origin.
    Any,
}

impl Naming {
    /// The origins that `host` or `host:port` stands for: one for each scheme, with that port or the scheme's default.
    ///
    /// # Errors
    /// If the host or the port is invalid.
    pub fn origins(&self, name: &[u8]) -> std::result::Result<Vec<OwnedOrigin>, UrlError> {
        let Naming::Hosts(schemes) = self else { return Ok(Vec::new()) };
        // In a URL each of these would end the host or what comes before it.
        if name.iter().any(|byte| b"/?#;@".contains(byte)) {
            return Err(UrlError::Host);
        }
        schemes.iter().map(|&scheme| OwnedOrigin::new(&origin_of(scheme, name)?)).collect()
    }
}

/// Whether a file or folder of this name is left out.
pub fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.')
}

/// The reason why a path names no host.
pub struct Nameless {
    detail: String,
}

impl Nameless {
    /// The fault as an item for the user.
    pub fn item(self, name: String) -> Item {
        Item::Bad { name, reason: "no valid host", detail: self.detail }
    }
}

/// The hosts met in one input, as far as needed to notice that all files are inside one more folder.
#[derive(Default)]
pub struct Hosts {
    first: Option<Vec<u8>>,
    differ: bool,
    in_folders: u64,
}

impl Hosts {
    /// The origins of the file at a path inside the input.
    ///
    /// # Errors
    /// If the path names no host.
    pub fn of(&mut self, inside: &[u8], naming: &Naming) -> std::result::Result<Vec<OwnedOrigin>, Nameless> {
        let (host, is_folder) = match inside.iter().position(|&byte| byte == b'/') {
            Some(end) => (&inside[..end], true),
            None => (inside, false),
        };
        if let Naming::Any = naming {
            return Ok(Vec::new());
        }
        if !is_folder && host.eq_ignore_ascii_case(b"robots.txt") {
            return Err(Nameless { detail: "rename the file, or the folder that it is in, to its host".into() });
        }
        let origins = naming
            .origins(host)
            .map_err(|error| Nameless { detail: format!("\"{}\" is not a host: {error}", shown(host)) })?;
        self.in_folders += u64::from(is_folder);
        match &self.first {
            Some(first) => self.differ |= first != host,
            None => self.first = Some(host.to_vec()),
        }
        Ok(origins)
    }

    /// Warns if all files turned out to be for one host.
    pub fn remark(self, path: &Path, sink: &mut Sink<'_>) -> Result<()> {
        match self.first {
            Some(host) if !self.differ && self.in_folders > 1 => sink(Item::Remark(format!(
                "{}: all {} files are below \"{}\", which is taken as their host, so that only one of them counts",
                path.display(),
                self.in_folders,
                shown(&host)
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::options::CompileOptions;

    #[test]
    fn names_stand_for_origins() {
        let naming = |name: &str, schemes: &[Scheme]| {
            let options = CompileOptions { schemes: schemes.to_vec(), ..CompileOptions::default() };
            let origins = Naming::Hosts(options.schemes()).origins(name.as_bytes());
            origins.map(|origins| {
                let show = |origin: OwnedOrigin| {
                    format!("{}://{}:{}", origin.scheme.as_str(), String::from_utf8_lossy(&origin.host), origin.port)
                };
                origins.into_iter().map(show).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(naming("A.b", &[]), Ok("http://a.b:80 https://a.b:443".into()));
        assert_eq!(naming("a:8080", &[]), Ok("http://a:8080 https://a:8080".into()));
        assert_eq!(naming("a", &[Scheme::Ftp, Scheme::Http, Scheme::Ftp]), Ok("http://a:80 ftp://a:21".into()));
        assert_eq!(naming("[0::1]:81", &[Scheme::Http]), Ok("http://[::1]:81".into()));
        assert_eq!(naming("BÜCHER.de.", &[Scheme::Http]), Ok("http://xn--bcher-kva.de:80".into()));
        for bad in ["", "a b", "a/b", "u@a", "1.2.3.4.5", "a%2fb", "a?b", "a#", "a;", "http://a"] {
            assert_eq!(naming(bad, &[]), Err(UrlError::Host), "{bad}");
        }
        assert_eq!(naming("a:b", &[]), Err(UrlError::Port));
    }
}
