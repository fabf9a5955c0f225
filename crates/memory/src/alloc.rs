//! Memory for records and for the index: which segments there are, who may take one, and where in it a record
//! goes.

pub(crate) mod admission;
pub(crate) mod budget;
pub(crate) mod head;
pub(crate) mod holes;
pub(crate) mod pool;
