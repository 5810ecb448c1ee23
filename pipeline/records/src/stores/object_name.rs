//! The URLs of objects, such as `s3://BUCKET/KEY`, split into a store and a key.

use std::io::{self, ErrorKind};

use object_store::path::Path as Key;
use url::Url;

use crate::redacted::remember;

/// The kind of a store.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StoreKind {
    /// Amazon S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage and Data Lake Storage.
    Azure,
    /// A web server.
    Web,
}

/// Azure's hosts, as in `https://ACCOUNT.blob.core.windows.net/CONTAINER/KEY`.
const AZURE_HOSTS: [&str; 4] =
    [".blob.core.windows.net", ".dfs.core.windows.net", ".blob.fabric.microsoft.com", ".dfs.fabric.microsoft.com"];

/// The parts of an object's URL.
#[derive(Clone, Debug)]
pub struct ObjectName {
    pub kind: StoreKind,
    /// The name's part up to the bucket or container and its slash. The whole name for a web server, which has no
    /// buckets.
    pub root: String,
    /// The object's key as given. Empty for a web server.
    pub key: String,
}

impl ObjectName {
    /// Splits a URL.
    ///
    /// # Errors
    /// Returns an error if the URL is not valid for its scheme, or contains a user name or a password.
    pub fn of(url: &str) -> io::Result<ObjectName> {
        remember(url);
        let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid("has no scheme"))?;
        let scheme = scheme.to_ascii_lowercase();
        let kind = match &*scheme {
            "s3" | "s3a" => StoreKind::S3,
            "gs" => StoreKind::Google,
            "az" | "adl" | "azure" | "abfs" | "abfss" => StoreKind::Azure,
            "https" | "http" => return ObjectName::of_web(url, rest),
            _ => return Err(invalid("has an unknown scheme")),
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let is_account = matches!(&*scheme, "abfs" | "abfss") && !bucket.contains(':');
        if bucket.is_empty() || bucket.contains(['?', '#', ':']) || (bucket.contains('@') && !is_account) {
            return Err(invalid("expected a bucket or a container after ://, without a port, a user or a query"));
        }
        Ok(ObjectName { kind, root: format!("{scheme}://{bucket}/"), key: key.into() })
    }

    fn of_web(name: &str, rest: &str) -> io::Result<ObjectName> {
        let url = Url::parse(name).map_err(|error| invalid(format!("is not a URL: {error}")))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(invalid("has a user name or a password, which are not sent; signed URLs need neither"));
        }
        let host = url.host_str().unwrap_or_default();
        let is_azure = url.scheme() == "https" && url.query().is_none();
        if is_azure && AZURE_HOSTS.iter().any(|ending| host.ends_with(ending)) {
            let path = url.path().trim_start_matches('/');
            let (container, key) = path.split_once('/').unwrap_or((path, ""));
            let key = Key::from_url_path(key).map_err(|error| invalid(error.to_string()))?;
            return Ok(ObjectName {
                kind: StoreKind::Azure,
                root: format!("https://{host}/{container}/"),
                key: key.to_string(),
            });
        }
        Ok(ObjectName { kind: StoreKind::Web, root: name.into(), key: String::new() })
    }

    /// Returns the object's key.
    ///
    /// # Errors
    /// Returns an error if the name has no key, or if stores do not accept it.
    pub fn key(&self) -> io::Result<Key> {
        let is_folder = self.key.is_empty() || self.key.ends_with('/');
        match self.kind {
            StoreKind::Web if self.root.ends_with('/') => {
                Err(invalid("names a folder, and web servers have no lists of files; name the files"))
            }
            StoreKind::Web => Ok(Key::default()),
            _ if is_folder => Err(invalid("names a folder; expected an object")),
            _ => Key::parse(&self.key).map_err(|error| invalid(error.to_string())),
        }
    }

    /// Returns the URL of another object in the same bucket.
    pub fn url_of(&self, key: &Key) -> String {
        format!("{}{key}", self.root)
    }
}

pub fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redacted::without_secrets;

    #[test]
    fn names_are_split_into_stores_and_keys() {
        for (name, expected) in [
            ("s3://b/k/x.csv", Some((StoreKind::S3, "s3://b/", "k/x.csv"))),
            ("S3A://b/k", Some((StoreKind::S3, "s3a://b/", "k"))),
            // Keys are taken as they are.
            ("s3://b/a b%20?x=1#y", Some((StoreKind::S3, "s3://b/", "a b%20?x=1#y"))),
            ("gs://b/dt=1/k", Some((StoreKind::Google, "gs://b/", "dt=1/k"))),
            ("az://c/k", Some((StoreKind::Azure, "az://c/", "k"))),
            ("abfss://c@a.dfs.core.windows.net/k", Some((StoreKind::Azure, "abfss://c@a.dfs.core.windows.net/", "k"))),
            (
                "https://a.blob.core.windows.net/c/k%20l",
                Some((StoreKind::Azure, "https://a.blob.core.windows.net/c/", "k l")),
            ),
            (
                "https://a.blob.core.windows.net/c/k?sig=x",
                Some((StoreKind::Web, "https://a.blob.core.windows.net/c/k?sig=x", "")),
            ),
            ("https://h/a?b#c", Some((StoreKind::Web, "https://h/a?b#c", ""))),
            ("http://h:8080/a", Some((StoreKind::Web, "http://h:8080/a", ""))),
            ("https://u:p@h/a", None),
            ("https:///", None),
            ("s3:///k", None),
            ("s3://key:secret@b/k", None),
            ("s3://user@b/k", None),
            ("abfss://c:p@a.dfs.core.windows.net/k", None),
            ("ftp://h/a", None),
        ] {
            let found = ObjectName::of(name);
            let found = found.as_ref().ok().map(|name| (name.kind, &*name.root, &*name.key));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn names_with_secrets_are_remembered() {
        let name = "https://h/a.csv?X-Amz-Signature=12345";
        let text = format!("{name}: 3 rows; see {name}");
        assert_eq!(without_secrets(&text), text);
        ObjectName::of(name).unwrap();
        let shown = "https://h/a.csv?X-Amz-Signature=***";
        assert_eq!(without_secrets(&text), format!("{shown}: 3 rows; see {shown}"));
    }

    #[test]
    fn keys_without_an_object_are_errors() {
        for (name, is_key) in [
            ("s3://b/k", true),
            ("s3://b", false),
            ("s3://b/", false),
            ("s3://b/k/", false),
            ("s3://b/a//b", false),
            ("s3://b/../b", false),
            ("https://h/a", true),
            ("https://h/", false),
        ] {
            let object = ObjectName::of(name).unwrap();
            assert_eq!(object.key().is_ok(), is_key, "{name}");
        }
    }
}
