//! Amounts of events.

use cotree_core::facts::events::EventKind;

/// The cost of something: an amount for each of [`EventKind::ALL`], in the same order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost(pub [u128; EventKind::ALL.len()]);

impl Cost {
    /// The cost in events of one kind.
    #[must_use]
    pub const fn of(&self, kind: EventKind) -> u128 {
        self.0[kind as usize]
    }

    /// Is it none at all?
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, amount)| *sum += amount);
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| sum + cost)
    }
}
