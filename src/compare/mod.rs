//! The compare room.
