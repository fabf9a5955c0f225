//! A store that counts, waits and fails by a seed; a publisher's space; and what a follower may read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hammerspace_fleet::{Fleet, Follow, Follower, Push, Pushed, push};
use hammerspace_space::Space;
use object_store::memory::InMemory;
use object_store::path::Path as Name;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What goes wrong, each in so many of 1,000 requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    /// The request is refused and does nothing: 500, 503.
    pub(crate) refused: u64,
    /// It takes effect, and the answer is lost.
    pub(crate) unanswered: u64,
    /// One bit of what is read is wrong.
    pub(crate) flipped: u64,
    /// Half of what is read is missing.
    pub(crate) cut: u64,
    /// A conditional put that looks, waits, and then writes.
    pub(crate) racy: bool,
    /// What each request takes, half to one and a half times.
    pub(crate) latency: Duration,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
}

pub(crate) struct Rig {
    inner: Arc<InMemory>,
    faults: Mutex<Faults>,
    rng: Mutex<fastrand::Rng>,
    pub(crate) counts: Counts,
}

impl Rig {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        let rng = Mutex::new(fastrand::Rng::with_seed(seed));
        Arc::new(Self { inner: Arc::default(), faults: Mutex::default(), rng, counts: Counts::default() })
    }

    pub(crate) fn fleet(self: &Arc<Self>) -> Fleet {
        Fleet::over(Arc::clone(self) as Arc<dyn ObjectStore>, "rig://store")
    }

    /// From here on these go wrong.
    pub(crate) fn set(&self, faults: Faults) {
        *self.faults.lock().unwrap() = faults;
    }

    pub(crate) fn bytes_out(&self) -> u64 {
        self.counts.bytes_out.load(Relaxed)
    }

    fn faults(&self) -> Faults {
        *self.faults.lock().unwrap()
    }

    fn is_drawn(&self, of_1000: u64) -> bool {
        of_1000 > 0 && self.rng.lock().unwrap().u64(0..1000) < of_1000
    }

    async fn begin(&self) -> Result<()> {
        self.counts.requests.fetch_add(1, Relaxed);
        self.wait().await;
        if self.is_drawn(self.faults().refused) { Err(failed("503 Slow Down")) } else { Ok(()) }
    }

    async fn wait(&self) {
        let latency = self.faults().latency;
        if !latency.is_zero() {
            let factor = self.rng.lock().unwrap().f64() + 0.5;
            tokio::time::sleep(latency.mul_f64(factor)).await;
        }
    }

    fn end<T>(&self, answer: T) -> Result<T> {
        if self.is_drawn(self.faults().unanswered) { Err(failed("connection reset")) } else { Ok(answer) }
    }
}

fn failed(what: &str) -> Error {
    Error::Generic { store: "rig", source: what.into() }
}

impl fmt::Debug for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rig")
    }
}

impl fmt::Display for Rig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rig")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Rig {
    async fn put_opts(&self, at: &Name, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.begin().await?;
        self.counts.bytes_in.fetch_add(payload.content_length() as u64, Relaxed);
        if self.faults().racy && options.mode == PutMode::Create {
            if self.inner.get_opts(at, GetOptions::default()).await.is_ok() {
                return Err(Error::AlreadyExists { path: at.to_string(), source: "it is there".into() });
            }
            tokio::task::yield_now().await;
            return self.inner.put_opts(at, payload, PutOptions::default()).await;
        }
        let put = self.inner.put_opts(at, payload, options).await?;
        self.end(put)
    }

    async fn put_multipart_opts(&self, at: &Name, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Name, options: GetOptions) -> Result<GetResult> {
        self.begin().await?;
        let got = self.inner.get_opts(at, options).await?;
        let (meta, range) = (got.meta.clone(), got.range.clone());
        let (attributes, extensions) = (got.attributes.clone(), got.extensions.clone());
        let mut bytes = got.bytes().await?.to_vec();
        self.counts.bytes_out.fetch_add(bytes.len() as u64, Relaxed);
        if !bytes.is_empty() && self.is_drawn(self.faults().flipped) {
            let at = self.rng.lock().unwrap().usize(..bytes.len());
            bytes[at] ^= 4;
        }
        if self.is_drawn(self.faults().cut) {
            bytes.truncate(bytes.len() / 2);
        }
        let payload = GetResultPayload::Stream(futures_util::stream::once(async { Ok(bytes.into()) }).boxed());
        self.end(GetResult { payload, meta, range, attributes, extensions })
    }

    fn delete_stream(&self, names: BoxStream<'static, Result<Name>>) -> BoxStream<'static, Result<Name>> {
        self.inner.delete_stream(names)
    }

    fn list(&self, prefix: Option<&Name>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.counts.requests.fetch_add(1, Relaxed);
        if self.is_drawn(self.faults().refused) {
            return futures_util::stream::once(async { Err(failed("500")) }).boxed();
        }
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Name>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Name, to: &Name, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A runtime whose clock moves only while everybody sleeps.
pub(crate) fn simulate<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(work)
}

/// A space that is pushed, in a directory of its own.
pub(crate) struct Publisher {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) space: Space,
}

impl Publisher {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let space = Space::create(dir.path().join("source")).unwrap();
        Self { dir, space }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Publishes locally: the version number under `version`, and so many keys from `first` on, each with
    /// bytes that no compressor shortens.
    pub(crate) fn write(&self, version: u64, first: u64, keys: u64) {
        let mut writer = self.space.writer().unwrap();
        writer.put("version", version.to_string()).unwrap();
        for key in first..first + keys {
            let mut rng = fastrand::Rng::with_seed(key ^ version << 32);
            writer.put(format!("key {key}"), (0..100).map(|_| rng.u8(..)).collect::<Vec<_>>()).unwrap();
        }
        writer.publish().unwrap();
        self.space.refresh().unwrap();
    }

    pub(crate) async fn push(&self, fleet: &Fleet, options: &Push) -> hammerspace_fleet::Result<Pushed> {
        push(fleet, &self.space.snapshot(), options).await
    }

    pub(crate) fn contents(&self) -> Contents {
        contents(&self.space)
    }
}

pub(crate) type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) fn contents(space: &Space) -> Contents {
    space.refresh().unwrap();
    space.snapshot().iter().map(|pair| pair.unwrap()).map(|(key, value)| (key.into(), value.into())).collect()
}

/// What must always hold of a followed space: it reads as empty, or as one published version, whole.
pub(crate) fn check_whole(path: &Path, published: &[Contents]) -> std::result::Result<(), String> {
    let space = Space::open(path).map_err(|error| error.to_string())?;
    let report = space.snapshot().verify().map_err(|error| error.to_string())?;
    if let Some(finding) = report.and_then(|report| report.findings.into_iter().next()) {
        return Err(format!("it does not verify: {finding}"));
    }
    let seen = contents(&space);
    if seen.is_empty() || published.contains(&seen) { Ok(()) } else { Err("it is a mix".into()) }
}

/// Small parts, so that a few kilobytes have several.
pub(crate) fn small() -> Push {
    Push { part_size: 4096, ..Push::default() }
}

pub(crate) fn follower(fleet: &Fleet, path: &Path, seed: u64) -> Follower {
    let options = Follow { name: Some(format!("web-{seed}")), seed, ..Follow::default() };
    Follower::open(fleet.clone(), path, options).unwrap()
}
