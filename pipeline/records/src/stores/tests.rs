//! Tests with an in-memory store, whose responses fail as each test specifies.

use std::fmt;
use std::future::Future;
use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::body::{MAX_RESUMES, Version};
use super::client::block_on;
use super::listing::keys;
use super::object::Object;
use super::upload::{PART_BYTES, Upload};

/// The fault of a response.
#[derive(Clone, Copy, Debug)]
enum ResponseFault {
    None,
    /// The stream fails after this many bytes.
    Break(usize),
    /// The stream ends after this many bytes.
    End(usize),
    /// The object is replaced before the response.
    Replace,
    /// The object is replaced, and the server ignores conditions.
    ReplaceUnnoticed,
}

/// An in-memory store. The first responses have the faults, in order.
struct Faulty {
    inner: InMemory,
    faults: Mutex<std::vec::IntoIter<ResponseFault>>,
    ranges: Mutex<Vec<Option<Range<u64>>>>,
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

type Answer<'f, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'f>>;

impl Faulty {
    async fn get(&self, key: &Key, mut options: GetOptions) -> Result<GetResult> {
        let range = options.range.as_ref().and_then(|range| match range {
            GetRange::Bounded(range) => Some(range.clone()),
            _ => None,
        });
        self.ranges.lock().unwrap().push(range);
        let fault = self.faults.lock().unwrap().next().unwrap_or(ResponseFault::None);
        if matches!(fault, ResponseFault::Replace | ResponseFault::ReplaceUnnoticed) {
            let len = self.inner.head(key).await?.size as usize;
            self.inner.put(key, vec![b'?'; len].into()).await?;
        }
        if matches!(fault, ResponseFault::ReplaceUnnoticed) {
            options.if_match = None;
        }
        let found = self.inner.get_opts(key, options).await?;
        let (meta, range, attributes) = (found.meta.clone(), found.range.clone(), found.attributes.clone());
        let extensions = found.extensions.clone();
        let bytes = found.bytes().await?;
        let broken = || Err(Error::Generic { store: "Faulty", source: "connection reset".into() });
        let stream = match fault {
            ResponseFault::Break(len) => stream::iter(vec![Ok(bytes.slice(..len.min(bytes.len()))), broken()]).boxed(),
            ResponseFault::End(len) => stream::iter(vec![Ok(bytes.slice(..len.min(bytes.len())))]).boxed(),
            _ => stream::iter(vec![Ok(bytes)]).boxed(),
        };
        Ok(GetResult { payload: GetResultPayload::Stream(stream), meta, range, attributes, extensions })
    }
}

/// Only reading has faults. The signatures are the same as in the trait's macro output.
impl ObjectStore for Faulty {
    fn get_opts<'a, 'b, 'f>(&'a self, key: &'b Key, options: GetOptions) -> Answer<'f, GetResult>
    where
        'a: 'f,
        'b: 'f,
    {
        Box::pin(self.get(key, options))
    }

    fn put_opts<'a, 'b, 'f>(&'a self, key: &'b Key, payload: PutPayload, options: PutOptions) -> Answer<'f, PutResult>
    where
        'a: 'f,
        'b: 'f,
    {
        self.inner.put_opts(key, payload, options)
    }

    fn put_multipart_opts<'a, 'b, 'f>(
        &'a self,
        key: &'b Key,
        options: PutMultipartOptions,
    ) -> Answer<'f, Box<dyn MultipartUpload>>
    where
        'a: 'f,
        'b: 'f,
    {
        self.inner.put_multipart_opts(key, options)
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_delimiter<'a, 'b, 'f>(&'a self, prefix: Option<&'b Key>) -> Answer<'f, ListResult>
    where
        'a: 'f,
        'b: 'f,
    {
        self.inner.list_with_delimiter(prefix)
    }

    fn copy_opts<'a, 'b, 'c, 'f>(&'a self, from: &'b Key, to: &'c Key, options: CopyOptions) -> Answer<'f, ()>
    where
        'a: 'f,
        'b: 'f,
        'c: 'f,
    {
        self.inner.copy_opts(from, to, options)
    }
}

fn bytes_of(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

/// Returns an open object of `len` bytes in a store with these faults, and the store.
fn object(len: usize, faults: &[ResponseFault]) -> (std::io::Result<Object>, Arc<Faulty>) {
    let key = Key::from("a/b");
    let faults = Mutex::new(Vec::from(faults).into_iter());
    let store = Arc::new(Faulty { inner: InMemory::new(), faults, ranges: Mutex::default() });
    block_on(store.put(&key, bytes_of(len).into())).unwrap().unwrap();
    let opened = block_on(Version::get(Arc::clone(&store) as Arc<dyn ObjectStore>, key)).unwrap();
    (opened.map(|(version, first)| Object::new(version, Some(first))), store)
}

#[test]
fn broken_streams_are_resumed_with_equal_bytes() {
    for (len, faults) in [
        (0, vec![]),
        (1, vec![ResponseFault::Break(0)]),
        (5000, vec![ResponseFault::Break(1), ResponseFault::Break(4998)]),
        (
            5000,
            vec![ResponseFault::End(17), ResponseFault::Break(0), ResponseFault::End(0), ResponseFault::Break(4000)],
        ),
        (5000, vec![ResponseFault::Break(5000)]),
    ] {
        let (object, store) = object(len, &faults);
        let mut found = Vec::new();
        object.unwrap().into_reader().read_to_end(&mut found).unwrap();
        assert_eq!(found, bytes_of(len), "{faults:?}");
        let ranges = store.ranges.lock().unwrap().clone();
        assert_eq!(ranges[0], None);
        assert!(ranges[1..].iter().all(|range| range.as_ref().is_some_and(|range| range.end == len as u64)));
    }
}

#[test]
fn resumptions_without_a_byte_stop_at_the_limit() {
    for count in [MAX_RESUMES - 1, MAX_RESUMES, MAX_RESUMES + 1] {
        let (object, _) = object(100, &vec![ResponseFault::Break(0); count]);
        let mut found = Vec::new();
        let read = object.unwrap().into_reader().read_to_end(&mut found);
        assert_eq!(read.is_ok(), count <= MAX_RESUMES, "{count}: {read:?}");
        // A byte in between begins a new count.
        let faults = [
            vec![ResponseFault::Break(0); MAX_RESUMES],
            vec![ResponseFault::Break(1)],
            vec![ResponseFault::Break(0); count],
        ]
        .concat();
        let (object, _) = self::object(100, &faults);
        let read = object.unwrap().into_reader().read_to_end(&mut found);
        assert_eq!(read.is_ok(), count < MAX_RESUMES, "{count}: {read:?}");
    }
}

#[test]
fn reads_by_position_are_equal_and_few() {
    let len = 5 << 20;
    let (object, store) = object(len, &[ResponseFault::None, ResponseFault::Break(7), ResponseFault::End(1000)]);
    let (object, expected) = (object.unwrap(), bytes_of(len));
    for (at, want) in [(len - 8, 8), (0, 1), (1, 1000), ((1 << 20) - 1, 2), (3 << 20, 2 << 20), (0, len), (len - 1, 5)]
    {
        let mut found = vec![0; want];
        let read = object.read_at(at as u64, &mut found).unwrap();
        let end = (at + want).min(len);
        assert_eq!((read, &found[..read]), (end - at, &expected[at..end]), "{at} {want}");
    }
    // Each block is requested once: the object, five blocks in at most five requests, and two repetitions.
    let ranges = store.ranges.lock().unwrap().clone();
    assert!(ranges.len() <= 8, "{ranges:?}");
    // Threads that need one block wait for one request.
    let (object, store) = self::object(1 << 20, &[]);
    let object = object.unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(object.read_at(9, &mut [0; 9]).unwrap(), 9));
        }
    });
    assert_eq!(store.ranges.lock().unwrap().len(), 2);
}

#[test]
fn replaced_objects_are_errors() {
    for fault in [ResponseFault::Replace, ResponseFault::ReplaceUnnoticed] {
        let (object, _) = object(3 << 20, &[ResponseFault::None, ResponseFault::None, fault]);
        let object = object.unwrap();
        assert!(object.read_at(0, &mut [0; 9]).is_ok());
        let error = object.read_at(2 << 20, &mut [0; 9]).unwrap_err();
        assert!(error.to_string().contains("was changed while it was read"), "{fault:?}: {error}");
        let (object, _) = self::object(3000, &[ResponseFault::Break(9), fault]);
        let error = object.unwrap().into_reader().read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("was changed while it was read"), "{fault:?}: {error}");
    }
}

#[test]
fn uploads_are_visible_whole_or_not_at_all() {
    let store = Arc::new(InMemory::new());
    let (objects, key) = (Arc::clone(&store) as Arc<dyn ObjectStore>, Key::from("out"));
    let upload = |force| Upload::of(Arc::clone(&objects), Arc::clone(&store) as Arc<_>, key.clone(), force);
    let found = || block_on(store.get(&key)).unwrap().ok().map(|found| block_on(found.bytes()).unwrap().unwrap());
    for len in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 1] {
        let expected = bytes_of(len);
        for is_published in [false, true] {
            let mut upload = upload(false).unwrap();
            for piece in expected.chunks(1 << 20) {
                upload.write_all(piece).unwrap();
            }
            assert_eq!(upload.identity(), (len as u64, xxhash_rust::xxh3::xxh3_64(&expected)));
            upload.complete().unwrap();
            assert_eq!(found(), None, "{len}");
            if is_published {
                upload.publish().unwrap();
            }
        }
        assert!(found().is_some_and(|found| found == expected), "{len}");
        assert_eq!(upload(false).err().map(|error| error.kind()), Some(ErrorKind::AlreadyExists));
        // Created in the meantime: two writers, and the first one wins.
        block_on(store.delete(&key)).unwrap().unwrap();
        let mut both = [upload(false).unwrap(), upload(false).unwrap()];
        both[1].write_all(&expected).unwrap();
        let [first, second] = both;
        first.publish().unwrap();
        assert_eq!(second.publish().err().map(|error| error.kind()), Some(ErrorKind::AlreadyExists), "{len}");
        assert!(found().is_some_and(|found| found.is_empty()));
        upload(true).unwrap().publish().unwrap();
        block_on(store.delete(&key)).unwrap().unwrap();
    }
}

#[test]
fn folders_are_listed_with_or_without_subfolders() {
    let store = Arc::new(InMemory::new());
    for name in ["a", "x/a", "x/b/c", "xy/a"] {
        block_on(store.put(&Key::from(name), "".into())).unwrap().unwrap();
    }
    let store: Arc<dyn ObjectStore> = store;
    for (folder, is_flat, expected) in [
        ("", true, "a"),
        ("", false, "a x/a x/b/c xy/a"),
        ("x/", true, "x/a"),
        ("x/", false, "x/a x/b/c"),
        ("none/", false, ""),
    ] {
        let mut found = block_on(keys(&store, folder, is_flat)).unwrap().unwrap();
        found.sort();
        let found: Vec<&str> = found.iter().map(AsRef::as_ref).collect();
        assert_eq!(found.join(" "), expected, "{folder}");
    }
}
