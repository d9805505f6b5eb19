//! Pairs the lines of two texts that replace each other: similar ones, in their order. Others stand alone.
//!
//! Two lines are compared by their pairs of neighbouring characters (Dice's coefficient), without white space. The pairs
//! that are chosen have the greatest sum of similarities. Invariants: no two pairs cross, and each pair is similar enough.

/// The least similarity of two lines that replace each other, in thousandths. Below it, marks within the lines tell less
/// than the two lines do.
const LEAST: u32 = 500;
/// More comparisons would take too long: lines are then compared only with the one at the same place.
const MOST_COMPARISONS: usize = 40_000;

/// The indices of the lines that replace each other, in order.
pub fn similar_pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let olds: Vec<Shape> = old.iter().map(|line| Shape::of(line)).collect();
    let news: Vec<Shape> = new.iter().map(|line| Shape::of(line)).collect();
    let is_similar = |(one, other): &(usize, usize)| olds[*one].likeness(&news[*other]) >= LEAST;
    if old.len().saturating_mul(new.len()) > MOST_COMPARISONS {
        let places = (0..old.len().min(new.len())).map(|place| (place, place));
        return places.filter(is_similar).collect();
    }
    best_pairs(&olds, &news)
}

/// The pairs with the greatest sum of similarities.
fn best_pairs(olds: &[Shape], news: &[Shape]) -> Vec<(usize, usize)> {
    let width = news.len() + 1;
    // Of the lines from each place on: the greatest sum, and the similarity of the lines there if they may be paired.
    let mut best = vec![0_u32; (olds.len() + 1) * width];
    let mut likeness = vec![None; (olds.len() + 1) * width];
    for one in (0..olds.len()).rev() {
        for other in (0..news.len()).rev() {
            let at = one * width + other;
            let alike = olds[one].likeness(&news[other]);
            let alike = (alike >= LEAST).then(|| alike + best[at + width + 1]);
            likeness[at] = alike;
            let alone = best[at + width].max(best[at + 1]);
            best[at] = alone.max(alike.unwrap_or(0));
        }
    }
    let mut pairs = Vec::new();
    let (mut one, mut other) = (0, 0);
    while one < olds.len() && other < news.len() {
        let at = one * width + other;
        if likeness[at] == Some(best[at]) {
            pairs.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if best[at + width] == best[at] {
            one += 1;
        } else {
            other += 1;
        }
    }
    pairs
}

/// What of a line is compared.
struct Shape {
    /// The pairs of neighbouring characters, sorted. One without a neighbour is a pair with itself.
    pairs: Vec<(char, char)>,
}

impl Shape {
    fn of(line: &str) -> Shape {
        let mut characters = line.chars().filter(|character| !character.is_whitespace());
        let mut pairs = Vec::new();
        if let Some(first) = characters.next() {
            let mut before = first;
            for character in characters {
                pairs.push((before, character));
                before = character;
            }
            if pairs.is_empty() {
                pairs.push((first, first));
            }
        }
        pairs.sort_unstable();
        Shape { pairs }
    }

    /// The similarity of two lines, from 0 to 1000.
    fn likeness(&self, other: &Shape) -> u32 {
        let all = self.pairs.len() + other.pairs.len();
        if all == 0 {
            return 1000;
        }
        let (mut one, mut two, mut common) = (0, 0, 0_usize);
        while let (Some(left), Some(right)) = (self.pairs.get(one), other.pairs.get(two)) {
            common += usize::from(left == right);
            one += usize::from(left <= right);
            two += usize::from(left >= right);
        }
        // At most 1000.
        (2000 * common / all) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(old: &str, new: &str) -> u32 {
        Shape::of(old).likeness(&Shape::of(new))
    }

    #[test]
    fn lines_are_similar_if_most_of_their_text_is_common() {
        for (old, new) in [
            ("look left now", "look right now"),
            ("\"red\"", "\"reed\""),
            ("    return 1", "\treturn 1  "),
            (
                "bash {\"command\": \"ls\"}",
                "bash {\"command\": \"ls -la src\"}",
            ),
            ("", "   "),
        ] {
            assert!(likeness(old, new) >= LEAST, "{old} / {new}");
        }
        for (old, new) in [
            ("I look for the file first.", "bash {\"command\": \"ls\"}"),
            ("The test passes now.", "Let me open settings.py."),
            (
                "submit {\"answer\": \"204\"}",
                "calculator {\"expr\": \"34 * 6\"}",
            ),
            ("x", "y"),
            ("", "a line"),
        ] {
            assert!(likeness(old, new) < LEAST, "{old} / {new}");
        }
        assert_eq!(likeness("aaa", "aaa"), 1000);
        assert_eq!(likeness("ab", "cd"), 0);
    }

    #[test]
    fn a_line_is_paired_with_the_one_that_it_became() {
        let old = ["open the drawer", "take the red marble"];
        let new = ["I was asked for a marble.", "take the blue marble", "done"];
        assert_eq!(similar_pairs(&old, &new), [(1, 1)]);
        let new = [
            "a new beginning",
            "open the upper drawer",
            "take the blue marble",
        ];
        assert_eq!(similar_pairs(&old, &new), [(0, 1), (1, 2)]);
        assert_eq!(similar_pairs(&old, &[]), []);
    }

    #[test]
    fn pairs_do_not_cross() {
        let old = ["open the drawer", "take the red marble"];
        let new = ["take the red marbles", "open the drawers"];
        assert_eq!(similar_pairs(&old, &new).len(), 1);
    }

    #[test]
    fn long_parts_are_compared_by_place() {
        let old: Vec<String> = (0..300)
            .map(|line| format!("the line number {line}"))
            .collect();
        let new: Vec<String> = old.iter().map(|line| format!("{line}!")).collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let mut new: Vec<&str> = new.iter().map(String::as_str).collect();
        new[7] = "something else altogether";
        let pairs = similar_pairs(&old, &new);
        assert_eq!(pairs.len(), 299);
        assert!(pairs.iter().all(|(one, other)| one == other && *one != 7));
    }
}
