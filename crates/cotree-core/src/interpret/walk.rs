//! Walks through the graph: parts of activations, and the truth about them.

use super::process::{Action, ActionError, Process, Thread};
use super::state::Registers;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, FunctionId, Site};
use crate::profile::{EarlyExits, FunctionProfile};

/// Where a walk begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the entry: a new activation.
    Entry,
    /// While the call at this site is running; what follows the call comes next.
    Site(Site),
}

/// Where a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At EXIT, by its last edge.
    Exit,
    /// While the call at this site of the last block is running: abandoned.
    Site(Site),
}

/// The edges that one activation takes between two points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphWalk {
    /// Where the walk begins.
    pub from: From,
    /// The edges taken, in order.
    pub edges: Vec<Edge>,
    /// Where the walk ends.
    pub until: Until,
}

/// Why a sequence of edges is no walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphWalkError {
    /// The edge does not leave the block that was reached.
    #[error("{0} does not leave {1}")]
    Detached(Edge, Block),
    /// There is no such call site, or not in the block that was reached.
    #[error("call site {0} is not in {1}")]
    NoSuchSite(Site, Block),
    /// A walk that should end at EXIT ends elsewhere, or one passes through EXIT.
    #[error("the walk ends in {0}")]
    EndsIn(Block),
}

/// The one thread and the one function of walks.
pub(super) const THREAD: Thread = Thread(0);
pub(super) const FUNCTION: FunctionId = FunctionId(0);

impl Process<'_> {
    /// Runs a walk of the only function in the only thread; gives the registers at its end.
    pub(super) fn walk(&mut self, walk: &GraphWalk, registers: Registers) -> Result<Registers, GraphWalkError> {
        let exit = self.cfg(FUNCTION).exit();
        match walk.from {
            From::Entry => self.enter(THREAD, FUNCTION, registers),
            From::Site(site) => {
                self.revive(THREAD, FUNCTION, site, registers).ok_or(GraphWalkError::NoSuchSite(site, exit))?;
            }
        }
        let walked = self.walk_on(walk, exit);
        let end = self.drop_frames(THREAD);
        walked.map(|()| end)
    }

    fn walk_on(&mut self, walk: &GraphWalk, exit: Block) -> Result<(), GraphWalkError> {
        for &edge in &walk.edges {
            let Some(at) = self.block(THREAD) else { return Err(GraphWalkError::EndsIn(exit)) };
            self.act(THREAD, Action::Take(edge)).map_err(|_| GraphWalkError::Detached(edge, at))?;
            self.settle(THREAD);
        }
        match (walk.until, self.block(THREAD)) {
            (Until::Exit, None) => Ok(()),
            (Until::Exit, Some(at)) => Err(GraphWalkError::EndsIn(at)),
            (Until::Site(site), None) => Err(GraphWalkError::NoSuchSite(site, exit)),
            (Until::Site(site), Some(at)) => {
                let call = self.function(FUNCTION).calls.call_of(site).ok_or(GraphWalkError::NoSuchSite(site, at))?;
                if walk.from != From::Site(site) || !walk.edges.is_empty() {
                    let called = self.act(THREAD, Action::Call { call, callee: None });
                    called.map_err(|_: ActionError| GraphWalkError::NoSuchSite(site, at))?;
                }
                self.act(THREAD, Action::EndThread).map_err(|_| GraphWalkError::NoSuchSite(site, at))
            }
        }
    }
}

/// The true profile of some walks, counted directly, and the early exits that the runtime would report for them.
///
/// # Errors
/// Where one of them is no walk of the function.
pub fn observe(
    function: &Function,
    cfg: &Cfg,
    walks: &[GraphWalk],
) -> Result<(FunctionProfile, EarlyExits), GraphWalkError> {
    let mut process = Process::new([(function, cfg)]).without_log();
    for walk in walks {
        process.walk(walk, Registers::default())?;
    }
    let truth = process.finish().truth;
    let truth = &truth.functions[FUNCTION.index()];
    Ok((truth.profile(), truth.early()))
}
