//! The one table of rows that every spelling shows.
