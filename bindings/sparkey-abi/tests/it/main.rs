//! The library from outside, as C programs meet it, beside Spotify's.

mod exports;
mod hostile;
mod peers;
mod programs;
mod twins;
