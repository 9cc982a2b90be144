//! Lists that hold one item for each block, edge, call, …, and that only an id of that kind indexes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// A number that says which of many like things is meant: its position in lists that hold one item for each of them.
pub trait Id: Copy {
    /// The id of the thing at a position.
    fn new(index: usize) -> Self;

    /// The position.
    fn index(self) -> usize;
}

/// A vector that is indexed by one kind of id, and is a plain vector in all other respects.
///
/// In files, too, it is the plain vector.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct IdMap<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> IdMap<I, T> {
    /// A map in which each of the first `len` ids has this value.
    #[must_use]
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        vec![value; len].into()
    }

    /// The item of an id, if it has one.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The item of an id, if it has one, to be changed.
    #[must_use]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// All ids that have items, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// All items with their ids, in order.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }
}

impl<I, T> Default for IdMap<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IdMap<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<I: Id, T> Index<I> for IdMap<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdMap<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I, T> Deref for IdMap<I, T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<I, T> DerefMut for IdMap<I, T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<I, T> From<Vec<T>> for IdMap<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, ids: PhantomData }
    }
}

impl<I, T> From<IdMap<I, T>> for Vec<T> {
    fn from(map: IdMap<I, T>) -> Self {
        map.items
    }
}

impl<I, T> FromIterator<T> for IdMap<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(items: S) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for IdMap<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IdMap<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdMap<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<I, T: PartialEq<U>, U> PartialEq<Vec<U>> for IdMap<I, T> {
    fn eq(&self, other: &Vec<U>) -> bool {
        self.items == *other
    }
}

impl<I, T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for IdMap<I, T> {
    fn eq(&self, other: &[U; N]) -> bool {
        self.items == *other
    }
}

impl<I, T: PartialEq<U>, U> PartialEq<IdMap<I, U>> for Vec<T> {
    fn eq(&self, other: &IdMap<I, U>) -> bool {
        *self == other.items
    }
}

#[cfg(test)]
mod tests {
    use super::{Id, IdMap};
    use crate::ids::Block;

    #[test]
    fn an_id_finds_its_item() {
        let mut map: IdMap<Block, char> = ['a', 'b'].into_iter().collect();
        map[Block(1)] = 'c';
        assert_eq!((map[Block(0)], map.get(Block(1)), map.get(Block(2))), ('a', Some(&'c'), None));
        assert_eq!(map.numbered().map(|(block, item)| format!("{block}{item}")).collect::<String>(), "b0ab1c");
        assert_eq!(map.ids().map(Id::index).collect::<Vec<_>>(), [0, 1]);
    }
}
