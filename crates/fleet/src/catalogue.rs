//! Which versions there are, and which one followers should be at.

use futures_util::TryStreamExt;
use hammerspace_error::{Kind, Result};
use object_store::path::Path;

use crate::layout::{ACTIVATIONS, VERSIONS, number_of, numbered};
use crate::manifest::{Activation, Manifest, Standing};
use crate::remote::Fleet;

impl Fleet {
    /// The manifest of version `number`; `None` where there is none yet.
    pub async fn manifest(&self, number: u64) -> Result<Option<Manifest>> {
        let path = numbered(VERSIONS, number);
        let Some(bytes) = self.get(&path, 0).await? else { return Ok(None) };
        Manifest::parse(&bytes, number).map(Some).map_err(|error| error.file(format!("{}/{path}", self.url())))
    }

    /// The numbers of all versions, in order.
    pub async fn numbers(&self) -> Result<Vec<u64>> {
        let prefix = Path::from(VERSIONS);
        let listed: Result<Vec<_>, _> = self.store.list(Some(&prefix)).try_collect().await;
        let listed = listed.map_err(|error| self.explain("list", &prefix, &error))?;
        let mut numbers: Vec<u64> = listed.iter().filter_map(|object| number_of(&object.location)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The number of the newest version, 0 before the first, and its manifest. A damaged one still takes
    /// its number.
    pub async fn newest(&self) -> Result<(u64, Option<Manifest>)> {
        let Some(number) = self.numbers().await?.last().copied() else { return Ok((0, None)) };
        match self.manifest(number).await {
            Err(error) if error.kind() == Kind::Corrupt => Ok((number, None)),
            manifest => Ok((number, manifest?)),
        }
    }

    /// Whether followers may make this version current.
    pub(crate) async fn is_active(&self, manifest: &Manifest) -> Result<bool> {
        match manifest.activation {
            Activation::Immediate => Ok(true),
            Activation::Held => Ok(self.get(&numbered(ACTIVATIONS, manifest.number), 0).await?.is_some()),
        }
    }

    /// The newest version that may be current, at or below `newest`.
    pub(crate) async fn newest_active(&self, numbers: &[u64]) -> Result<Option<Manifest>> {
        for number in numbers.iter().rev() {
            let Some(manifest) = self.manifest(*number).await? else { continue };
            if manifest.standing == Standing::Live && self.is_active(&manifest).await? {
                return Ok(Some(manifest));
            }
        }
        Ok(None)
    }
}
