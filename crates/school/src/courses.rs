//! The environments that can be learned.

use crate::calculator::CalculatorCourse;
use crate::counter::CounterCourse;
use crate::hands::HandsCourse;
use crate::learnable::Learnable;

/// All environments that can be learned.
pub fn learnables() -> Vec<Box<dyn Learnable>> {
    vec![
        Box::new(CalculatorCourse),
        Box::new(CounterCourse),
        Box::new(HandsCourse),
    ]
}

/// The one with a name.
pub fn learnable(environment: &str) -> Option<Box<dyn Learnable>> {
    let all = learnables();
    all.into_iter()
        .find(|learnable| learnable.environment() == environment)
}
