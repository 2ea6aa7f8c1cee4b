//! Proof of the room: vectors of another implementation, properties, and error rates in virtual time.

mod calibration;
mod edges;
mod process;
mod properties;
mod vectors;
