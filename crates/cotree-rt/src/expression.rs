//! Evaluates DWARF expressions of unwind tables: what a compiler, a linker (for stubs of shared libraries) or the C
//! library (for the frame of a signal) says of a register that no simple rule describes.
//!
//! All values are words. What unwind tables have no use for (calls, types, pieces, objects) is an error.

/// More values than any of these expressions has at a time.
const DEPTH: usize = 64;
/// More operations than any takes: more is a loop.
const STEPS: usize = 1000;

/// Operations by number (DWARF 5, §7.7.1).
mod op {
    pub const ADDR: u8 = 0x03;
    pub const DEREF: u8 = 0x06;
    pub const CONST1U: u8 = 0x08;
    pub const CONST8S: u8 = 0x0f;
    pub const CONSTU: u8 = 0x10;
    pub const CONSTS: u8 = 0x11;
    pub const DUP: u8 = 0x12;
    pub const DROP: u8 = 0x13;
    pub const OVER: u8 = 0x14;
    pub const PICK: u8 = 0x15;
    pub const SWAP: u8 = 0x16;
    pub const ROT: u8 = 0x17;
    pub const ABS: u8 = 0x19;
    pub const AND: u8 = 0x1a;
    pub const DIV: u8 = 0x1b;
    pub const MINUS: u8 = 0x1c;
    pub const MOD: u8 = 0x1d;
    pub const MUL: u8 = 0x1e;
    pub const NEG: u8 = 0x1f;
    pub const NOT: u8 = 0x20;
    pub const OR: u8 = 0x21;
    pub const PLUS: u8 = 0x22;
    pub const PLUS_UCONST: u8 = 0x23;
    pub const SHL: u8 = 0x24;
    pub const SHR: u8 = 0x25;
    pub const SHRA: u8 = 0x26;
    pub const XOR: u8 = 0x27;
    pub const BRA: u8 = 0x28;
    pub const EQ: u8 = 0x29;
    pub const NE: u8 = 0x2e;
    pub const SKIP: u8 = 0x2f;
    pub const LIT0: u8 = 0x30;
    pub const LIT31: u8 = 0x4f;
    pub const BREG0: u8 = 0x70;
    pub const BREG31: u8 = 0x8f;
    pub const BREGX: u8 = 0x92;
    pub const DEREF_SIZE: u8 = 0x94;
    pub const NOP: u8 = 0x96;
}

/// The value of an expression that begins with `initial` on its stack. `register` knows registers by number, `memory`
/// so many bytes (1 to 8) at an address.
pub fn evaluate(
    code: &[u8],
    initial: Option<u64>,
    register: impl Fn(u64) -> Option<u64>,
    mut memory: impl FnMut(u64, u8) -> Option<u64>,
) -> Option<u64> {
    let mut stack = Stack { values: [0; DEPTH], depth: 0 };
    if let Some(value) = initial {
        stack.push(value)?;
    }
    let mut rest = Code { all: code, at: 0 };
    for _ in 0..STEPS {
        let Some(operation) = rest.byte() else { return stack.pop() };
        let value = match operation {
            op::ADDR => rest.fixed(8)?,
            // Eight operations: one, two, four and eight bytes, each without and with a sign.
            op::CONST1U..=op::CONST8S => {
                let size = 1 << ((operation - op::CONST1U) / 2);
                let bits = 64 - 8 * u32::from(size);
                let value = rest.fixed(size)?;
                if operation & 1 == 0 { value } else { ((value << bits).cast_signed() >> bits).cast_unsigned() }
            }
            op::CONSTU => rest.unsigned()?,
            op::CONSTS => rest.signed()?,
            op::LIT0..=op::LIT31 => u64::from(operation - op::LIT0),
            op::BREG0..=op::BREG31 => register((operation - op::BREG0).into())?.wrapping_add(rest.signed()?),
            op::BREGX => register(rest.unsigned()?)?.wrapping_add(rest.signed()?),
            op::DEREF => memory(stack.pop()?, 8)?,
            op::DEREF_SIZE => {
                let size = rest.byte().filter(|size| (1..=8).contains(size))?;
                memory(stack.pop()?, size)?
            }
            op::DUP => stack.pick(0)?,
            op::OVER => stack.pick(1)?,
            op::PICK => stack.pick(rest.byte()?.into())?,
            op::PLUS_UCONST => stack.pop()?.wrapping_add(rest.unsigned()?),
            op::ABS => stack.pop()?.cast_signed().unsigned_abs(),
            op::NEG => stack.pop()?.wrapping_neg(),
            op::NOT => !stack.pop()?,
            op::AND..=op::MUL | op::OR | op::PLUS | op::SHL..=op::XOR | op::EQ..=op::NE => {
                let (second, first) = (stack.pop()?, stack.pop()?);
                combine(operation, first, second)?
            }
            op::DROP => {
                stack.pop()?;
                continue;
            }
            op::SWAP => {
                let (second, first) = (stack.pop()?, stack.pop()?);
                stack.push(second)?;
                first
            }
            op::ROT => {
                let (third, second, first) = (stack.pop()?, stack.pop()?, stack.pop()?);
                stack.push(third)?;
                stack.push(first)?;
                second
            }
            op::SKIP => {
                rest.jump()?;
                continue;
            }
            op::BRA => {
                let taken = stack.pop()? != 0;
                if taken {
                    rest.jump()?
                } else {
                    _ = rest.fixed(2)?
                }
                continue;
            }
            op::NOP => continue,
            _ => return None,
        };
        stack.push(value)?;
    }
    None
}

/// Two operands; comparisons and division go by signed numbers.
fn combine(operation: u8, first: u64, second: u64) -> Option<u64> {
    let (a, b) = (first.cast_signed(), second.cast_signed());
    let shift = u32::try_from(second).ok().filter(|&shift| shift < 64);
    Some(match operation {
        op::AND => first & second,
        op::DIV => a.checked_div(b)?.cast_unsigned(),
        op::MINUS => first.wrapping_sub(second),
        op::MOD => first.checked_rem(second)?,
        op::MUL => first.wrapping_mul(second),
        op::OR => first | second,
        op::PLUS => first.wrapping_add(second),
        op::SHL => shift.map_or(0, |shift| first << shift),
        op::SHR => shift.map_or(0, |shift| first >> shift),
        op::SHRA => (a >> shift.unwrap_or(63)).cast_unsigned(),
        op::XOR => first ^ second,
        // Equal, not less, greater, not greater, less, not equal: in this order.
        _ => u64::from([a == b, a >= b, a > b, a <= b, a < b, a != b].get(usize::from(operation - op::EQ)).copied()?),
    })
}

struct Stack {
    values: [u64; DEPTH],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: u64) -> Option<()> {
        *self.values.get_mut(self.depth)? = value;
        self.depth += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<u64> {
        self.depth = self.depth.checked_sub(1)?;
        self.values.get(self.depth).copied()
    }

    /// The value so far below the top.
    fn pick(&self, below: usize) -> Option<u64> {
        self.values.get(self.depth.checked_sub(below + 1)?).copied()
    }
}

struct Code<'a> {
    all: &'a [u8],
    at: usize,
}

impl Code<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.all.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// A number of so many bytes.
    fn fixed(&mut self, size: u8) -> Option<u64> {
        let mut value = 0;
        for place in 0..size {
            value |= u64::from(self.byte()?) << (8 * place);
        }
        Some(value)
    }

    fn leb128(&mut self) -> Option<(u64, u32)> {
        let (mut value, mut bits) = (0, 0);
        loop {
            let byte = self.byte()?;
            if bits < 64 {
                value |= u64::from(byte & 0x7f) << bits;
            }
            bits += 7;
            if byte & 0x80 == 0 {
                return Some((value, bits));
            }
        }
    }

    fn unsigned(&mut self) -> Option<u64> {
        self.leb128().map(|(value, _)| value)
    }

    fn signed(&mut self) -> Option<u64> {
        let (value, bits) = self.leb128()?;
        let unused = 64_u32.saturating_sub(bits);
        Some(((value << unused).cast_signed() >> unused).cast_unsigned())
    }

    /// Goes on as far from here as the next two bytes say.
    fn jump(&mut self) -> Option<()> {
        let distance = i16::from_le_bytes((self.fixed(2)? as u16).to_le_bytes());
        self.at = self.at.checked_add_signed(distance.into()).filter(|&at| at <= self.all.len())?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers hold 1000 and their number, memory at an address that address and as many thousands as there are
    /// bytes.
    fn value(code: &[u8], initial: Option<u64>) -> Option<u64> {
        evaluate(
            code,
            initial,
            |register| (register < 17).then_some(1000 + register),
            |at, size| Some(at + 1000 * u64::from(size)),
        )
    }

    #[test]
    fn stubs_of_shared_libraries() {
        // breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus: the stub's second half has pushed a word more.
        let stub = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
        let at = |pc: u64| evaluate(&stub, None, |register| Some(if register == 16 { pc } else { 5000 }), |_, _| None);
        assert_eq!([at(0x1000), at(0x100a), at(0x100b), at(0x100f)], [5008, 5008, 5016, 5016].map(Some));
    }

    #[test]
    fn frames_of_signals_and_of_realigned_stacks() {
        // breg7 160; deref.
        assert_eq!(value(&[0x77, 0xa0, 1, 0x06], None), Some(1007 + 160 + 8000));
        // breg6 -8; deref.
        assert_eq!(value(&[0x76, 0x78, 0x06], Some(3)), Some(1006 - 8 + 8000));
        // The CFA and a number.
        assert_eq!(value(&[0x23, 0x80, 1], Some(7)), Some(135));
        assert_eq!(value(&[0x94, 4], Some(7)), Some(4007));
    }

    #[test]
    fn numbers_and_their_signs() {
        assert_eq!(value(&[0x08, 0xff], None), Some(255));
        assert_eq!(value(&[0x09, 0xff], None), Some(u64::MAX));
        assert_eq!(value(&[0x0a, 0x34, 0x12], None), Some(0x1234));
        assert_eq!(value(&[0x0d, 0xfe, 0xff, 0xff, 0xff], None), Some(u64::MAX - 1));
        assert_eq!(value(&[0x0e, 1, 2, 3, 4, 5, 6, 7, 8], None), Some(0x0807_0605_0403_0201));
        assert_eq!(value(&[0x11, 0x7f], None), Some(u64::MAX));
        assert_eq!(value(&[0x10, 0xff, 1], None), Some(255));
    }

    #[test]
    fn order_and_operands() {
        // 7 - 2, 7 / -2, 1 < 2, over, rot, swap.
        assert_eq!(value(&[0x37, 0x32, 0x1c], None), Some(5));
        assert_eq!(value(&[0x37, 0x09, 0xfe, 0x1b], None), Some((-3_i64).cast_unsigned()));
        assert_eq!(value(&[0x31, 0x32, 0x2d], None), Some(1));
        assert_eq!(value(&[0x31, 0x32, 0x2b], None), Some(0));
        assert_eq!(value(&[0x35, 0x36, 0x14, 0x1c], None), Some(1));
        assert_eq!(value(&[0x31, 0x32, 0x33, 0x17], None), Some(2));
        assert_eq!(value(&[0x31, 0x32, 0x16], None), Some(1));
        assert_eq!(value(&[0x31, 0x08, 70, 0x24], None), Some(0));
    }

    #[test]
    fn jumps_and_nonsense() {
        // skip over lit1; bra.
        assert_eq!(value(&[0x35, 0x2f, 1, 0, 0x31], None), Some(5));
        assert_eq!(value(&[0x35, 0x31, 0x28, 1, 0, 0x39], None), Some(5));
        assert_eq!(value(&[0x35, 0x30, 0x28, 1, 0, 0x39], None), Some(9));
        assert_eq!(value(&[0x2f, 0xfd, 0xff], None), None);
        for nonsense in [&[0x22][..], &[], &[0x10], &[0xff], &[0x2f, 0x00, 0x70], &[0x92, 17, 0], &[0x35, 0x30, 0x1b]] {
            assert_eq!(value(nonsense, None), None, "{nonsense:x?}");
        }
        assert_eq!(value(&[0x31; 65], None), None);
    }
}
