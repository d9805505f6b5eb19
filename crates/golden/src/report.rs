//! The result of a run.

use std::collections::BTreeMap;
use std::fmt;

use volary_core::Text;

use crate::ops::tokens::TOKENIZER_VARIABLE;

/// A failed case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The operation.
    pub op: Text,
    /// The name of the case.
    pub case: Text,
    /// The difference.
    pub reason: String,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of passed cases.
    pub passed: usize,
    /// The number of cases that were not selected.
    pub left_out: usize,
    /// The cases skipped without the tokenizer of Qwen2.5, as operation and name.
    pub without_tokenizer: Vec<String>,
    /// The number of cases per operation that were skipped without the original's data.
    pub without_data: BTreeMap<Text, usize>,
    /// The number of cases per operation in which the wording of prompts was not compared.
    pub without_wording: BTreeMap<Text, usize>,
    /// The failed cases.
    pub failures: Vec<Failure>,
    /// Why files could not be run.
    pub broken: Vec<String>,
}

impl Report {
    /// Whether no case failed and every file could be run.
    pub fn is_success(&self) -> bool {
        self.failures.is_empty() && self.broken.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            let Failure { op, case, reason } = failure;
            writeln!(formatter, "FAILED {op}/{case}\n    {reason}")?;
        }
        for reason in &self.broken {
            writeln!(formatter, "FAILED {reason}")?;
        }
        for name in &self.without_tokenizer {
            writeln!(
                formatter,
                "LEFT OUT {name}: needs the path of Qwen2.5's tokenizer.json in {TOKENIZER_VARIABLE}"
            )?;
        }
        for (op, count) in &self.without_data {
            writeln!(
                formatter,
                "LEFT OUT {op}: {count} cases need the original's checkout in TAU_BENCH_DIR"
            )?;
        }
        for (op, count) in &self.without_wording {
            writeln!(
                formatter,
                "{op}: in {count} cases prompts have our wording, so only their roles are compared; \
                 TAU_BENCH_DIR gives the original's"
            )?;
        }
        write!(
            formatter,
            "golden cases: {} passed, {} failed, {} left out",
            self.passed,
            self.failures.len(),
            self.left_out + self.without_tokenizer.len(),
        )
    }
}
