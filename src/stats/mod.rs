//! The stats room.
