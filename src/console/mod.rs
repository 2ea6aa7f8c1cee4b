//! The console room.
