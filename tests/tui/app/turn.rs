//! A conversation.
