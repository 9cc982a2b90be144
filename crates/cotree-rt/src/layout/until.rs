//! How a process is told what part of its run to count: the environment variable `COTREE_UNTIL`.
//!
//! The value is `UNIT:FUNCTIONS` or `UNIT:FUNCTIONS;FUNCTIONS`, all in hexadecimal: the id of an executable, and
//! addresses of functions in it, as they were linked, separated by commas; zeros in front of them do not matter. The
//! process ends where the last of all functions is entered, after the one before it was entered, and so on. All that
//! ran is accounted for, as at a call of `_exit` in that place. With a semicolon, counts begin where the last function
//! before it is entered, as at a call of `cotree_reset`; without functions behind it, the process ends as ever.
//!
//! Other executables do not heed the variable, nor do those without the part of the runtime for it, and programs that
//! run with rights which their caller has not.

/// The status of a process that has ended so.
pub const STATUS: i32 = 86;

/// The largest number of functions.
pub const MOST: usize = 8;

/// A function must have so many bytes at least.
pub const SMALLEST: u64 = 5;

/// What a process is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// The executable, its id as a number.
    pub unit: u128,
    /// Addresses of functions that are entered one after another.
    pub functions: [u64; MOST],
    /// How many there are.
    pub count: usize,
    /// The number of functions after which counts begin; 0: they begin with the process.
    pub begin: usize,
    /// Whether the process ends where the last one is entered.
    pub ends: bool,
}

impl Until {
    /// Reads a value; `None` if it is none.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let mut until = Self { unit: 0, functions: [0; MOST], count: 0, begin: 0, ends: false };
        let (mut number, mut digits, mut unit_is_read) = (0_u128, 0, false);
        for &sign in value.iter().chain(b",") {
            if let Some(digit) = (sign as char).to_digit(16) {
                number = number << 4 | u128::from(digit);
                digits += 1;
                continue;
            }
            match sign {
                b':' if !unit_is_read => (until.unit, unit_is_read) = (number, true),
                // Nothing stands behind the last semicolon.
                b',' if digits == 0 && until.count != 0 && until.count == until.begin => break,
                b',' | b';' if unit_is_read && digits != 0 => {
                    *until.functions.get_mut(until.count)? = number as u64;
                    until.count += 1;
                    until.ends = sign == b',';
                    if sign == b';' {
                        until.begin = until.count;
                    }
                }
                _ => return None,
            }
            (number, digits) = (0, 0);
        }
        Some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn values_name_a_unit_and_functions() {
        let id = "000102030405060708090a0b0c0d0e0f";
        let read = |list: &str| Until::parse(format!("{id}{list}").as_bytes());
        let until = read(":1000,fffffffffffffff0").expect("a value");
        assert_eq!(until.unit.to_be_bytes(), std::array::from_fn(|at| at as u8));
        assert_eq!(until.functions[..until.count], [0x1000, 0xffff_ffff_ffff_fff0]);
        assert_eq!((until.begin, until.ends), (0, true));
        let until = read(":1,2;3").expect("a value");
        assert_eq!((until.count, until.begin, until.ends), (3, 2, true));
        let until = read(":1;").expect("a value");
        assert_eq!((until.count, until.begin, until.ends), (1, 1, false));
        assert_eq!(Until::parse(b"0000000000000000000000000000000000002:01"), Until::parse(b"2:1"));
        for bad in ["", ":", ":x", ":1,", ":1,,2", ":1 ", ":1:2", ":1,2,3,4,5,6,7,8,9", ":;1", ":1,;2"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(Until::parse(b"1"), None);
    }
}
