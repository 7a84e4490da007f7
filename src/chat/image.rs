//! Images attached to a message: what counts as one, and how much fits.

/// An image as history stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// The file's bytes in standard base64.
    pub data: String,
}

impl Image {
    /// Most files that one prompt may carry.
    pub const MAX_FILES: usize = 10;
    /// Largest single file, in bytes.
    pub const MAX_FILE: u64 = 20 << 20;
    /// Largest sum over one prompt, in bytes.
    pub const MAX_TOTAL: u64 = 40 << 20;

    /// Tells an image by its first bytes; file names are not trusted.
    pub fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some("image/webp"),
            _ => None,
        }
    }
}
