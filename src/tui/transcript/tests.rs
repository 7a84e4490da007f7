//! Entries from events.
