//! Shapes as the `d` of SVG paths. Non-finite numbers become zero or are clamped.

/// Clamps a number to a finite value.
fn drawable(number: f64) -> f64 {
    if number.is_finite() {
        number.clamp(-1e6, 1e6)
    } else {
        0.0
    }
}

/// A rectangle from its upper left corner.
pub fn rectangle(x: f64, y: f64, width: f64, height: f64) -> String {
    let (x, y, width, height) = (drawable(x), drawable(y), drawable(width), drawable(height));
    format!("M{x} {y}h{width}v{height}h{}z", -width)
}

/// A circle of two arcs.
pub fn circle((x, y): (f64, f64), radius: f64) -> String {
    let radius = drawable(radius).max(0.0);
    let (x, y, across) = (drawable(x) - radius, drawable(y), 2.0 * radius);
    format!(
        "M{x} {y}a{radius} {radius} 0 1 0 {across} 0a{radius} {radius} 0 1 0 {} 0z",
        -across
    )
}

/// A line through points.
pub fn polyline(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        path.push_str(&format!("{command}{} {}", drawable(*x), drawable(*y)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_paths() {
        assert_eq!(rectangle(1.0, 2.0, 3.0, 4.5), "M1 2h3v4.5h-3z");
        assert_eq!(
            circle((5.0, 5.0), 2.0),
            "M3 5a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"
        );
        assert_eq!(polyline(&[(0.0, 0.0), (1.0, 2.0)]), "M0 0L1 2");
        assert_eq!(polyline(&[]), "");
    }

    #[test]
    fn undrawable_values_are_tolerated() {
        assert_eq!(polyline(&[(f64::NAN, f64::INFINITY)]), "M0 0");
        assert_eq!(
            circle((0.0, 0.0), -1.0),
            "M0 0a0 0 0 1 0 0 0a0 0 0 1 0 -0 0z"
        );
    }
}
