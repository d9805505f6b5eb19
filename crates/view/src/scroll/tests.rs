//! Scroll positions and rendered blocks after various events.

use super::super::transcript::tests::step;
use super::*;

fn episode(steps: usize) -> Episode {
    Episode {
        steps: vec![step(1); steps],
        ..Episode::default()
    }
}

fn scroll(steps: usize) -> Scroll {
    let mut scroll = Scroll::default();
    scroll.follow(&episode(steps), 0);
    scroll
}

#[test]
fn the_window_is_bounded_and_covers_what_is_seen() {
    let mut scroll = scroll(10_000);
    for top in [0.0, 1_000.0, 500_000.0, 1e9] {
        scroll.scrolled(top, false);
        let window = scroll.window();
        assert!(window.len() < 40, "{window:?}");
        let (above, below) = scroll.room(&window);
        assert!(above <= (scroll.top + 1.0).min(scroll.heights.total()));
        let end = scroll.heights.total() - below;
        assert!(end >= (scroll.top + 600.0).min(scroll.heights.total()));
    }
}

#[test]
fn blocks_stay_while_they_will_do() {
    let mut scroll = scroll(10_000);
    scroll.reveal(5_000);
    let shown = scroll.window();
    let a_little_higher = scroll.heights.top(2) - scroll.heights.top(1) + 3.0;
    scroll.measured(shown.start, &[a_little_higher; 2]);
    assert_eq!(scroll.window_from(&shown), shown);
    // Too few, too many, and those of a longer episode before.
    let fewer = shown.start..shown.end - 12;
    assert_eq!(scroll.window_from(&fewer), scroll.window());
    let more = shown.start - 30..shown.end + 30;
    assert_eq!(scroll.window_from(&more), scroll.window());
    assert_eq!(
        scroll.window_from(&(10_000..10_009)).end,
        scroll.window().end - 2
    );
}

#[test]
fn a_jump_renders_less_and_scrolling_on_the_rest() {
    let mut scroll = scroll(10_000);
    let shown = scroll.window();
    scroll.reveal(5_000);
    let landed = scroll.window_from(&shown);
    assert!(landed.len() < scroll.window().len());
    assert!(scroll.heights.top(landed.start) <= scroll.top - MIN_MARGIN);
    assert!(scroll.heights.top(landed.end) >= scroll.top + scroll.viewport + MIN_MARGIN);
    assert_eq!(scroll.window_from(&landed), landed);
    scroll.scrolled(scroll.top + 200.0, false);
    let window = scroll.window();
    assert_eq!(scroll.window_from(&landed), landed.start..window.end);
}

#[test]
fn a_reader_at_the_end_stays_there() {
    let mut scroll = scroll(100);
    assert!(scroll.follows());
    scroll.follow(&episode(101), 0);
    assert_eq!(scroll.top(), scroll.end());
    scroll.measured(90, &[500.0; 12]);
    assert_eq!(scroll.top(), scroll.end());
}

#[test]
fn a_reader_at_the_end_follows_what_grows_there() {
    let mut scroll = scroll(100);
    let before = scroll.top();
    scroll.resized(600.0, 250.0);
    assert_eq!(scroll.top(), before + 250.0);
    assert_eq!(scroll.window().end, 101);
    scroll.scrolled(before - 400.0, false);
    scroll.resized(600.0, 900.0);
    assert_eq!(scroll.top(), before - 400.0);
}

#[test]
fn the_end_stays_in_view_when_the_browser_adjusts_the_position() {
    let mut scroll = scroll(100);
    scroll.shown(scroll.end());
    scroll.follow(&episode(200), 0);
    scroll.scrolled(scroll.on_page - 6.0, true);
    assert!(scroll.follows() && !scroll.is_placed());
    assert_eq!(scroll.top(), scroll.end());
}

#[test]
fn the_position_stays_when_steps_are_added() {
    let mut scroll = scroll(100);
    let top = scroll.top();
    scroll.stay();
    scroll.follow(&episode(200), 0);
    assert_eq!(scroll.top(), top);
}

#[test]
fn scrolling_up_stops_following() {
    let mut scroll = scroll(100);
    scroll.scrolled(scroll.top() - 400.0, false);
    let top = scroll.top();
    scroll.follow(&episode(200), 0);
    assert_eq!(scroll.top(), top);
    assert!(!scroll.follows());
    scroll.to_end();
    assert_eq!(scroll.top(), scroll.end());
}

#[test]
fn a_fully_visible_transcript_is_at_its_end() {
    let mut scroll = scroll(2);
    scroll.resized(60.0, 0.0);
    scroll.reveal(0);
    assert!(!scroll.follows(), "there is more below");
    scroll.resized(6_000.0, 0.0);
    assert!(scroll.follows());
    scroll.resized(60.0, 0.0);
    scroll.reveal(0);
    scroll.measured(0, &[10.0; 3]);
    assert!(scroll.follows());
}

#[test]
fn the_visible_block_stays_when_heights_above_change() {
    let mut scroll = scroll(100);
    let place = scroll.heights.top(50) + 10.0;
    scroll.scrolled(place, false);
    scroll.measured(48, &[999.0, 1.0]);
    assert_eq!(scroll.top(), scroll.heights.top(50) + 10.0);
}

#[test]
fn a_step_is_revealed_only_if_it_is_out_of_sight() {
    let mut scroll = scroll(100);
    scroll.reveal(50);
    let top = scroll.top();
    assert_eq!(top, scroll.heights.top(50));
    scroll.reveal(51);
    assert_eq!(scroll.top(), top);
    scroll.reveal(0);
    assert_eq!(scroll.top(), 0.0);
}

#[test]
fn the_window_reaches_beyond_the_viewport() {
    let mut scroll = scroll(100);
    scroll.reveal(50);
    let (top, window) = (scroll.top(), scroll.window());
    assert!(scroll.heights.top(window.start) <= top - MARGIN + UNSEEN);
    assert!(scroll.heights.top(window.end) >= top + scroll.viewport + MARGIN);
}

#[test]
fn stepping_scrolls_once_in_a_few_steps() {
    let mut scroll = scroll(100);
    let mut turns = |steps: &mut dyn Iterator<Item = usize>| {
        let mut tops = Vec::new();
        for step in steps {
            scroll.reveal(step);
            let place = scroll.heights.top(step);
            let end = scroll.heights.top(step + 1);
            assert!(scroll.top <= place && end <= scroll.top + scroll.viewport);
            tops.push(scroll.top);
        }
        tops.dedup();
        tops.len()
    };
    assert!(turns(&mut (30..60)) <= 15);
    assert!(turns(&mut (30..60).rev()) <= 15);
}

#[test]
fn a_step_that_is_higher_than_the_page_is_seen_from_its_beginning() {
    let mut scroll = scroll(100);
    scroll.reveal(50);
    scroll.measured(49, &[5_000.0]);
    scroll.reveal(50);
    scroll.reveal(49);
    assert_eq!(scroll.top(), scroll.heights.top(49));
}

#[test]
fn blocks_at_one_end_stay_while_others_come_at_the_other() {
    let mut scroll = scroll(100);
    let shown = scroll.window();
    scroll.follow(&episode(101), 0);
    assert_eq!(scroll.window_from(&shown), shown.start..102);
    // None of them can stay.
    scroll.follow(&episode(130), 0);
    assert_eq!(scroll.window_from(&shown), 123..131);
}

#[test]
fn late_measurements_do_not_scroll() {
    let mut scroll = scroll(100);
    scroll.shown(scroll.top());
    let end = scroll.top();
    scroll.reveal(0);
    scroll.scrolled(end, false);
    assert_eq!(scroll.top(), 0.0);
    scroll.shown(0.0);
    scroll.scrolled(200.0, false);
    assert_eq!(scroll.top(), 200.0);
}

#[test]
fn a_cut_episode_leaves_the_reader_on_it() {
    let mut scroll = scroll(100);
    scroll.scrolled(scroll.top() - 400.0, false);
    scroll.follow(&episode(3), 1);
    assert!(scroll.top() <= scroll.end());
    assert_eq!(scroll.window().end, 4);
}

#[test]
fn an_episode_that_seemed_to_fit_opens_at_its_start() {
    let mut scroll = scroll(2);
    scroll.resized(600.0, 0.0);
    scroll.reveal(0);
    assert_eq!((scroll.end(), scroll.top()), (0.0, 0.0));
    assert!(scroll.follows(), "all is seen, as far as is known");
    scroll.measured(0, &[900.0; 3]);
    scroll.resized(500.0, 0.0);
    assert_eq!(scroll.top(), 0.0);
    assert!(!scroll.follows());
    // Nor does what is read of the file later move it.
    scroll.follow(&episode(30), 0);
    assert_eq!(scroll.top(), 0.0);
    scroll.to_end();
    assert_eq!(scroll.top(), scroll.end());
}
