//! The history room.
