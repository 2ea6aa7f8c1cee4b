//! The client room.
