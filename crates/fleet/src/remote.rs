//! The place that is published to: an object store and a prefix in it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hammerspace_error::{Doing, Error, Kind, Result};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, GetOptions, ObjectStore, ObjectStoreExt, PutMode, RetryConfig};
use url::Url;

/// Where a space is published.
#[derive(Clone)]
pub struct Fleet {
    pub(crate) store: Arc<dyn ObjectStore>,
    url: Arc<str>,
}

impl Fleet {
    /// Opens `s3://bucket/prefix`, with credentials, region and endpoint from the usual environment
    /// variables (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`), or
    /// `file:///directory`.
    pub fn open(url: &str) -> Result<Self> {
        let parsed = Url::parse(url).map_err(|cause| unknown(url, &cause.to_string()))?;
        match parsed.scheme() {
            "s3" => s3(&parsed, url),
            "file" => directory(&parsed, url),
            scheme => Err(unknown(url, &format!("the scheme `{scheme}` is not known"))),
        }
    }

    /// Over any store; messages call it `url`.
    pub fn over(store: Arc<dyn ObjectStore>, url: &str) -> Self {
        Self { store, url: url.into() }
    }

    /// As it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Writes an object that is not there. `false` where there is one.
    pub(crate) async fn put_if_absent(&self, path: &Path, bytes: Vec<u8>) -> Result<bool> {
        match self.store.put_opts(path, bytes.into(), PutMode::Create.into()).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.explain("write", path, &error)),
        }
    }

    pub(crate) async fn put(&self, path: &Path, bytes: Vec<u8>) -> Result<()> {
        self.store.put(path, bytes.into()).await.map_err(|error| self.explain("write", path, &error))?;
        Ok(())
    }

    /// An object, whole or from a byte on; `None` where it is missing.
    pub(crate) async fn get(&self, path: &Path, from: u64) -> Result<Option<Vec<u8>>> {
        let range = (from > 0).then_some(object_store::GetRange::Offset(from));
        let got = self.store.get_opts(path, GetOptions { range, ..GetOptions::default() }).await;
        let bytes = match got {
            Ok(got) => got.bytes().await,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => Err(error),
        };
        bytes.map(|bytes| Some(bytes.into())).map_err(|error| self.explain("read", path, &error))
    }

    pub(crate) async fn delete(&self, path: &Path) -> Result<()> {
        match self.store.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.explain("remove", path, &error)),
        }
    }

    pub(crate) fn explain(&self, doing: &str, path: &Path, error: &object_store::Error) -> Error {
        use object_store::Error as E;
        let kind = match error {
            E::NotFound { .. } => Kind::Missing,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Kind::Permission,
            E::NotSupported { .. } | E::NotImplemented { .. } => Kind::Unsupported,
            _ => Kind::Io,
        };
        let error = Error::new(kind, format!("cannot {doing} {}/{path}: {error}", self.url));
        match kind {
            Kind::Permission => error.remedy("grant this program the rights that docs/guide/fleet.md lists"),
            Kind::Unsupported => error.remedy("use a store that can put an object if it is absent"),
            _ => error,
        }
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fleet").field(&self.url).finish()
    }
}

fn s3(parsed: &Url, url: &str) -> Result<Fleet> {
    let endpoint =
        ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"].iter().find_map(|name| std::env::var(name).ok());
    let is_plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
    let client = ClientOptions::new()
        .with_allow_http(is_plain)
        .with_connect_timeout(Duration::from_secs(10))
        .with_timeout(Duration::from_mins(5));
    let bucket = parsed.host_str().ok_or_else(|| unknown(url, "it names no bucket"))?;
    let store = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_client_options(client)
        .with_retry(RetryConfig {
            max_retries: 6,
            retry_timeout: Duration::from_mins(1),
            backoff: BackoffConfig::default(),
        })
        .build()
        .map_err(|cause| unknown(url, &cause.to_string()))?;
    let prefix = Path::from_url_path(parsed.path()).map_err(|cause| unknown(url, &cause.to_string()))?;
    Ok(Fleet::over(Arc::new(PrefixStore::new(store, prefix)), url.trim_end_matches('/')))
}

fn directory(parsed: &Url, url: &str) -> Result<Fleet> {
    let path = parsed.to_file_path().map_err(|()| unknown(url, "it names no directory of this machine"))?;
    std::fs::create_dir_all(&path).doing("make the directory").map_err(|error: Error| error.file(&path))?;
    let store = LocalFileSystem::new_with_prefix(&path).map_err(|cause| unknown(url, &cause.to_string()))?;
    Ok(Fleet::over(Arc::new(store.with_fsync(true)), url.trim_end_matches('/')))
}

fn unknown(url: &str, finding: &str) -> Error {
    Error::new(Kind::Invalid, format!("{url} cannot be opened: {finding}"))
        .remedy("give s3://bucket/prefix or file:///directory")
}

/// Runs one of this crate's futures to its end, on this thread.
pub fn run<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().doing("start the runtime")?.block_on(work)
}
