//! Hammerspace for C.
