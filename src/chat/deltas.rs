//! Pieces of a text that came apart and are told apart.
//!
//! A fast stream brings hundreds of pieces with one read. They travel through e as one value, and
//! still reach a consumer of events one by one.

/// One or more pieces, in order. None of them is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deltas {
    text: String,
    /// Where each piece but the last ends.
    cuts: Vec<usize>,
}

impl Deltas {
    /// Adds a piece.
    pub fn push(&mut self, piece: &str) {
        self.cuts.push(self.text.len());
        self.text.push_str(piece);
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The pieces.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.cuts.iter().copied());
        let ends = self.cuts.iter().copied().chain([self.text.len()]);
        starts.zip(ends).map(|(start, end)| &self.text[start..end])
    }
}

impl<T: Into<String>> From<T> for Deltas {
    fn from(piece: T) -> Self {
        Self {
            text: piece.into(),
            cuts: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_out_as_they_went_in() {
        let mut deltas = Deltas::from("a");
        assert_eq!(deltas.iter().collect::<Vec<_>>(), ["a"]);
        deltas.push("é");
        deltas.push("cc");
        assert_eq!(deltas.iter().collect::<Vec<_>>(), ["a", "é", "cc"]);
        assert_eq!(deltas.text(), "aécc");
    }
}
