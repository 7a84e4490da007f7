//! However e ends, the terminal is what it was.
