//! The bytes of a stream, as far as they have been asked for.

/// Where the bytes of a stream come from.
pub trait Source {
    /// Appends the next bytes; false if there are none.
    ///
    /// # Errors
    /// Why they can't be had.
    fn more(&mut self, to: &mut Vec<u8>) -> Result<bool, String>;
}

/// A stream that is in memory.
impl Source for &[u8] {
    fn more(&mut self, to: &mut Vec<u8>) -> Result<bool, String> {
        const AT_ONCE: usize = 1 << 16;
        let (now, later) = self.split_at(self.len().min(AT_ONCE));
        to.extend(now);
        *self = later;
        Ok(!now.is_empty())
    }
}

/// The bytes of a source that have come and not been read yet.
#[derive(Default)]
pub(super) struct Input {
    buffer: Vec<u8>,
    /// How many bytes of the buffer have been read.
    read: usize,
}

impl Input {
    /// The bytes that are here.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.read..]
    }

    /// The next bytes as a number, one to eight of them, which stay; `None` if they are not here.
    #[inline]
    pub fn peek(&self, bytes: usize) -> Option<u64> {
        let rest = self.buffer.get(self.read..)?;
        if let Some(word) = rest.first_chunk()
            && (1..=8).contains(&bytes)
        {
            return Some(u64::from_le_bytes(*word) & (u64::MAX >> (64 - 8 * bytes)));
        }
        let mut word = [0; 8];
        word.get_mut(..bytes)?.copy_from_slice(rest.get(..bytes)?);
        Some(u64::from_le_bytes(word))
    }

    /// Notes that the next bytes have been read. They are here.
    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.read += bytes;
    }

    /// Fetches the next bytes, as many as that; false if the source ends before.
    pub fn fetch(&mut self, source: &mut dyn Source, bytes: usize) -> Result<bool, String> {
        while self.buffer.len() - self.read < bytes {
            self.buffer.drain(..self.read);
            self.read = 0;
            if !source.more(&mut self.buffer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
