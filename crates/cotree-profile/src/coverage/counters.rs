//! Counters of a function, and the sums and differences of them that count its regions.

use super::error::CoverageFault;

/// What counts a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Nothing: the compiler knows that the region never runs.
    Zero,
    /// A counter of the function, by number.
    Value(u32),
    /// An expression of the function, by number.
    Expression(u32),
}

/// How the operands of an expression are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The right one is taken from the left one.
    Subtract,
    /// The operands are added.
    Add,
}

/// A sum or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    /// How the operands are combined.
    pub operation: Operation,
    /// The left operand.
    pub left: Counter,
    /// The right operand.
    pub right: Counter,
}

/// The expressions of a function, none of which has itself as an operand, however deep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expressions {
    list: Vec<Expression>,
    /// All expressions, operands before those who use them.
    order: Vec<u32>,
}

impl Expressions {
    /// Takes expressions that refer to each other by their index.
    ///
    /// # Errors
    /// If an operand is no expression of the list, or an expression is among its own operands.
    pub fn new(list: Vec<Expression>) -> Result<Self, CoverageFault> {
        let order = operands_first(&list)?;
        Ok(Self { list, order })
    }

    /// The expressions, by number.
    #[must_use]
    pub fn list(&self) -> &[Expression] {
        &self.list
    }

    /// Computes all expressions from the values of the function's counters.
    #[must_use]
    pub fn values<'c>(&self, counters: &'c [u64]) -> Values<'c, u64> {
        self.values_of(counters)
    }

    /// Computes all expressions from numbers in the place of the counters' values, which may be negative.
    #[must_use]
    pub fn values_of<'c, N: Copy + Into<i128>>(&self, counters: &'c [N]) -> Values<'c, N> {
        self.combined(counters, i128::saturating_sub)
    }

    /// Computes what all expressions are at least, if counters have at least these values.
    #[must_use]
    pub fn at_least<'c, N: Copy + Into<i128>>(&self, counters: &'c [N]) -> Values<'c, N> {
        self.combined(counters, |_, _| 0)
    }

    /// Computes what all expressions are at most, if counters have at most these values.
    #[must_use]
    pub fn at_most<'c, N: Copy + Into<i128>>(&self, counters: &'c [N]) -> Values<'c, N> {
        self.combined(counters, |left, _| left)
    }

    fn combined<'c, N: Copy + Into<i128>>(
        &self,
        counters: &'c [N],
        subtract: impl Fn(i128, i128) -> i128,
    ) -> Values<'c, N> {
        let mut values = Values { counters, expressions: vec![None; self.list.len()] };
        for &number in &self.order {
            let expression = self.list[number as usize];
            let operands = values.get(expression.left).zip(values.get(expression.right));
            values.expressions[number as usize] = operands.map(|(left, right)| match expression.operation {
                Operation::Add => left.saturating_add(right),
                Operation::Subtract => subtract(left, right),
            });
        }
        values
    }
}

/// The values of a function's counters and expressions.
///
/// Differences may be negative on the way to a result that is not, so numbers have a sign and more bits than a count.
#[derive(Clone, Debug)]
pub struct Values<'c, N> {
    counters: &'c [N],
    expressions: Vec<Option<i128>>,
}

impl<N: Copy + Into<i128>> Values<'_, N> {
    /// The value of a counter. `None`: it needs a counter that has no value.
    #[must_use]
    pub fn get(&self, counter: Counter) -> Option<i128> {
        match counter {
            Counter::Zero => Some(0),
            Counter::Value(number) => self.counters.get(number as usize).map(|&value| value.into()),
            Counter::Expression(number) => self.expressions.get(number as usize).copied().flatten(),
        }
    }
}

/// An order in which each expression comes after its operands.
fn operands_first(list: &[Expression]) -> Result<Vec<u32>, CoverageFault> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        /// The operands of the expression are under way.
        Open,
        Done,
    }
    let operand = |counter| match counter {
        Counter::Expression(number) if number as usize >= list.len() => {
            Err(CoverageFault::Invalid("an expression has an operand that is not there"))
        }
        Counter::Expression(number) => Ok(Some(number)),
        Counter::Zero | Counter::Value(_) => Ok(None),
    };
    let mut states = vec![State::New; list.len()];
    let mut order = Vec::with_capacity(list.len());
    let mut work = Vec::new();
    for start in (0u32..).take(list.len()) {
        work.push(start);
        while let Some(&number) = work.last() {
            match states[number as usize] {
                State::Done => {
                    work.pop();
                }
                State::Open => {
                    states[number as usize] = State::Done;
                    order.push(number);
                    work.pop();
                }
                State::New => {
                    states[number as usize] = State::Open;
                    let Expression { left, right, .. } = list[number as usize];
                    for needed in [operand(left)?, operand(right)?].into_iter().flatten() {
                        match states[needed as usize] {
                            State::New => work.push(needed),
                            State::Open => return Err(CoverageFault::Invalid("an expression is its own operand")),
                            State::Done => {}
                        }
                    }
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(operation: Operation, left: Counter, right: Counter) -> Expression {
        Expression { operation, left, right }
    }

    #[test]
    fn operands_may_stand_behind_and_differences_below_zero() {
        use Counter::{Expression as E, Value as V};
        let list = vec![
            expression(Operation::Add, E(1), V(2)),
            expression(Operation::Subtract, V(0), V(1)),
            expression(Operation::Add, E(1), V(9)),
        ];
        let expressions = Expressions::new(list).expect("no circle");
        let values = expressions.values(&[3, 5, 4]);
        assert_eq!(
            [E(0), E(1), E(2), V(9), Counter::Zero].map(|c| values.get(c)),
            [Some(2), Some(-2), None, None, Some(0)]
        );
    }

    #[test]
    fn shared_operands_are_computed_once() {
        let doubled = |n: u32| expression(Operation::Add, Counter::Expression(n + 1), Counter::Expression(n + 1));
        let mut list: Vec<Expression> = (0..200).map(doubled).collect();
        list.push(expression(Operation::Add, Counter::Value(0), Counter::Zero));
        let expressions = Expressions::new(list).expect("no circle");
        assert_eq!(expressions.values(&[1]).get(Counter::Expression(0)), Some(i128::MAX));
    }

    #[test]
    fn circles_are_refused() {
        let around = |n| expression(Operation::Add, Counter::Zero, Counter::Expression(n));
        assert!(Expressions::new(vec![around(0)]).is_err());
        assert!(Expressions::new(vec![around(1), around(2), around(0)]).is_err());
        assert!(Expressions::new(vec![around(1)]).is_err());
    }
}
