//! Checks a profile against its reference: binaries built with `--verify` carry the counters of two methods, the
//! chosen one and [`CounterMethod::Block`], and the same run feeds both.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::method::counters::recover_alone;
use crate::recover::{UnitError, check_counts, recover};
use cotree_core::ids::{Block, Edge, FunctionId};
use cotree_core::method::counters::CounterMethod;

/// The number on which the two methods disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The number of activations.
    Entries,
    /// A block's count.
    Block(Block),
    /// An edge's count.
    Edge(Edge),
    /// One of them could not be recovered at all.
    Whole,
}

/// One disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The function.
    pub function: FunctionId,
    /// About what.
    pub subject: Subject,
    /// What the chosen method says.
    pub recovered: u64,
    /// What the reference says.
    pub reference: u64,
    /// The profile itself says that it does not vouch for this function.
    pub declared: bool,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Functions compared.
    pub functions: u64,
    /// Block counts compared.
    pub blocks: u64,
    /// Edge counts compared.
    pub edges: u64,
    /// Functions that the profile does not vouch for.
    pub flawed: u64,
    /// The disagreements.
    pub mismatches: Vec<Mismatch>,
}

impl Verification {
    /// Are all disagreements in functions that the profile does not vouch for?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.mismatches.iter().all(|m| m.declared)
    }
}

/// Compares every block and edge count with the reference that the same run counted.
///
/// # Errors
/// If the counts are not of this binary, or it carries no reference.
pub fn verify(binary: &BinaryFile, counts: &UnitCounts) -> Result<Verification, UnitError> {
    check_counts(binary, counts)?;
    let plan = &binary.map().plan;
    let Some(check) = &plan.check else {
        return Err(UnitError::NothingToVerify { binary: binary.path().to_owned() });
    };
    let method = plan.method.method();
    if !method.promises().blocks && !method.is_none() {
        return Err(UnitError::NotComparable { binary: binary.path().to_owned(), title: method.title() });
    }
    let profile = recover(binary, counts)?;
    let (exits, _) = UnitExits::new(binary, counts);
    let bases = plan.layout().check;
    let (references, failures) = recover_alone(binary, counts, CounterMethod::Block, check, &bases, &exits);
    let mut result = Verification::default();
    for (index, _) in profile.failures.iter().chain(&failures) {
        let mismatch =
            Mismatch { function: *index, subject: Subject::Whole, recovered: 0, reference: 0, declared: false };
        result.mismatches.push(mismatch);
    }
    for ((recovered, reference), function) in profile.functions.iter().zip(&references).zip(FunctionId::all()) {
        let (Some(recovered), Some(reference)) = (recovered, reference) else { continue };
        let declared = !recovered.flaws.is_empty();
        result.functions += 1;
        result.flawed += u64::from(declared);
        let mut compare = |subject, recovered, reference| {
            if recovered != reference {
                result.mismatches.push(Mismatch { function, subject, recovered, reference, declared });
            }
        };
        compare(Subject::Entries, recovered.entries, reference.entries);
        for (block, (&a, &b)) in recovered.blocks.iter().zip(&reference.blocks).enumerate() {
            compare(Subject::Block(Block::new(block)), a, b);
        }
        result.blocks += recovered.blocks.len() as u64;
        if let (Some(a), Some(b)) = (&recovered.edges, &reference.edges) {
            result.edges += a.len() as u64;
            for (edge, (&a, &b)) in a.iter().zip(b).enumerate() {
                compare(Subject::Edge(Edge::new(edge)), a, b);
            }
        }
    }
    Ok(result)
}
