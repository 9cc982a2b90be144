//! cotree-report
