//! Lists of objects: patterns, and folders of small objects.

use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use glob::Pattern;
use object_store::ObjectStore;
use object_store::path::Path as Key;

use super::body::{Body, Version};
use super::client::{Purpose, block_on, connect, failure};
use super::object_name::{ObjectName, StoreKind, invalid};
use crate::globs::OPTIONS;

/// Maximum number of objects that are listed for a pattern or a folder.
const MAX_LISTED_OBJECTS: usize = 1_000_000;

/// Number of small objects that are read at the same time.
pub const SMALL_AT_ONCE: usize = 8;

/// Replaces a pattern with the URLs of the matching objects, in alphabetical order. A name without wildcards, or on a
/// web server, is returned as it is.
///
/// # Errors
/// Returns an error if the name or the pattern is invalid, if nothing matches, or if the objects cannot be listed.
pub fn expand(url: &str) -> io::Result<Vec<String>> {
    let name = ObjectName::of(url)?;
    let Some(wildcard) = name.key.find(['*', '?', '[']).filter(|_| name.kind != StoreKind::Web) else {
        return Ok(vec![url.into()]);
    };
    let pattern = Pattern::new(&name.key).map_err(|error| invalid(format!("is not a pattern for names: {error}")))?;
    let (folder, rest) = name.key.split_at(name.key[..wildcard].rfind('/').map_or(0, |at| at + 1));
    let store = connect(&name, Purpose::Read)?.objects;
    let keys = block_on(keys(&store, folder, !rest.contains('/') && !rest.contains("**")))??;
    let is_match = |key: &&Key| key.as_ref() == name.key || pattern.matches_with(key.as_ref(), OPTIONS);
    let mut found: Vec<String> = keys.iter().filter(is_match).map(|key| name.url_of(key)).collect();
    // A name that exists is used as it is.
    if found.iter().any(|name| name == url) {
        return Ok(vec![url.into()]);
    }
    if found.is_empty() {
        return Err(invalid("no such object, and no object matches this pattern"));
    }
    found.sort_unstable_by(|a, b| Path::new(a).cmp(Path::new(b)));
    Ok(found)
}

/// Returns the URLs of all objects in a folder and its subfolders, in alphabetical order.
///
/// # Errors
/// Returns an error if the objects cannot be listed.
pub fn list(folder: &str) -> io::Result<Vec<String>> {
    let name = ObjectName::of(folder)?;
    if name.kind == StoreKind::Web {
        return Err(invalid("names a folder, and web servers have no lists of files; name the files"));
    }
    let store = connect(&name, Purpose::Read)?.objects;
    let mut found: Vec<String> =
        block_on(keys(&store, &name.key, false))??.iter().map(|key| name.url_of(key)).collect();
    found.sort_unstable_by(|a, b| Path::new(a).cmp(Path::new(b)));
    Ok(found)
}

/// Returns the keys of the objects in a folder, and in its subfolders unless `is_flat`.
pub(super) async fn keys(store: &Arc<dyn ObjectStore>, folder: &str, is_flat: bool) -> io::Result<Vec<Key>> {
    let prefix = Key::parse(folder).map_err(|error| invalid(error.to_string()))?;
    let prefix = Some(&prefix).filter(|prefix| !prefix.as_ref().is_empty());
    let mut keys = Vec::new();
    if is_flat {
        let found = store.list_with_delimiter(prefix).await.map_err(|error| failure(&error))?;
        keys.extend(found.objects.into_iter().map(|object| object.location));
        check_count(keys.len())?;
        return Ok(keys);
    }
    let mut objects = store.list(prefix);
    while let Some(object) = objects.next().await {
        keys.push(object.map_err(|error| failure(&error))?.location);
        check_count(keys.len())?;
    }
    Ok(keys)
}

fn check_count(count: usize) -> io::Result<()> {
    match count > MAX_LISTED_OBJECTS {
        true => Err(invalid(format!("lists more than {MAX_LISTED_OBJECTS} objects; name a smaller folder"))),
        false => Ok(()),
    }
}

/// Reads small objects, up to [`SMALL_AT_ONCE`] at the same time. Returns each one's size and its bytes, which are left
/// out if there are more than `limit`.
pub fn read_small(urls: &[String], limit: u64) -> Vec<io::Result<(u64, Vec<u8>)>> {
    let opened: Vec<_> = urls
        .iter()
        .map(|url| {
            let name = ObjectName::of(url)?;
            Ok((connect(&name, Purpose::Read)?.objects, name.key()?))
        })
        .collect();
    let count = opened.len();
    let read = |opened: io::Result<(Arc<dyn ObjectStore>, Key)>| async move {
        let (store, key) = opened?;
        let (version, first) = Version::get(store, key).await?;
        let len = version.len();
        let mut bytes = Vec::new();
        if len <= limit {
            let mut body = Body::new(Arc::new(version), 0..len, Some(first));
            while let Some(more) = body.next().await? {
                bytes.extend_from_slice(&more);
            }
        }
        Ok((len, bytes))
    };
    let all = stream::iter(opened).map(read).buffered(SMALL_AT_ONCE).collect::<Vec<_>>();
    match block_on(all) {
        Ok(all) => all,
        Err(error) => (0..count).map(|_| Err(io::Error::other(error.to_string()))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_objects_stop_at_the_limit() {
        for (count, fits) in
            [(MAX_LISTED_OBJECTS - 1, true), (MAX_LISTED_OBJECTS, true), (MAX_LISTED_OBJECTS + 1, false)]
        {
            assert_eq!(check_count(count).is_ok(), fits, "{count}");
        }
    }
}
