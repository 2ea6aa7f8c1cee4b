//! The commands room.
