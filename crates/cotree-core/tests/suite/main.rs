//! The tests of this crate, one program: each links all below it, and linking is what takes long.

mod affine;
mod cycles;
mod figures;
mod interpreter;
mod large;
mod loops;
mod many_paths;
mod methods;
mod mixed;
mod path_arrays;
mod path_metrics;
mod path_probes;
mod path_refusal;
mod paths;
mod placement;
mod prediction;
mod programs;
mod promotion;
mod random;
mod refusal;
mod seldom;
mod sese;
mod statistics;
mod structured;
mod supergraph;
mod weighting;
