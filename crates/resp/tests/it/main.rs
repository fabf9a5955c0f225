//! RESP against itself and against redis-server.

mod replies;
mod requests;
