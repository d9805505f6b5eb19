//! Tests of the exchange with the file of a server: late responses, failures, and changes during requests.

use volary_analysis::annotations::Annotation;

use super::*;

const FILE: &str = "/notes";

/// A page with a row `a` of the server, a row `b` of its own, and notes.
struct TestPage {
    sync: NotesSync,
    notes: Annotations,
    rows: Vec<Arc<Row>>,
}

impl TestPage {
    fn new() -> TestPage {
        TestPage {
            sync: NotesSync::default(),
            notes: Annotations::default(),
            rows: vec![row("a", Some(PUBLISHED)), row("b", None)],
        }
    }

    /// A page that knows an empty file.
    fn synchronized() -> TestPage {
        let mut page = TestPage::new();
        assert_eq!(page.update(Event::Found(FILE.into())), [read()]);
        assert_eq!(page.update(file(&Annotations::default())), []);
        page
    }

    fn update(&mut self, event: Event) -> Vec<Effect> {
        let ours = Ours {
            notes: &self.notes,
            rows: &self.rows,
        };
        let effects = self.sync.update(event, ours);
        for effect in &effects {
            if let Effect::Merge(notes) = effect {
                self.notes.merge(notes.clone());
            }
        }
        effects
    }

    fn note(&mut self, note: &Annotation) -> Vec<Effect> {
        self.notes.write(note.clone(), 1.0);
        self.update(Event::NotesChanged)
    }
}

fn row(id: &str, origin: Option<&str>) -> Arc<Row> {
    Arc::new(Row {
        id: id.into(),
        origin: origin.map(Text::from),
        ..Row::default()
    })
}

fn note(episode: &str, text: &str) -> Annotation {
    Annotation {
        id: format!("note on {episode}").into(),
        episode: episode.into(),
        text: text.into(),
        ..Annotation::default()
    }
}

/// The note at a revision, as [`Annotations::write`] makes it.
fn revision(episode: &str, text: &str, revision: u64) -> Annotations {
    let note = Annotation {
        revision,
        changed: 1.0,
        ..note(episode, text)
    };
    [note].into_iter().collect()
}

fn read() -> Effect {
    Effect::Read(FILE.into())
}

fn write(notes: Annotations) -> Effect {
    let url = FILE.into();
    Effect::Write { url, notes }
}

fn file(notes: &Annotations) -> Event {
    Event::Read(Ok((200, sidecar::to_text(notes))))
}

fn stored() -> Event {
    Event::Written(Ok((200, String::new())))
}

fn refused() -> Event {
    Event::Written(Err("offline".to_owned()))
}

fn shown(effects: &[Effect]) -> &Notice {
    match effects {
        [Effect::Show(notice)] => notice,
        other => panic!("no notice: {other:?}"),
    }
}

#[test]
fn without_a_file_nothing_is_sent() {
    let mut page = TestPage::new();
    assert_eq!(page.note(&note("a", "x")), []);
    assert_eq!(page.update(Event::FileChanged), []);
    assert_eq!(page.update(Event::RowsChanged), []);
}

#[test]
fn nothing_is_written_before_the_file_was_read() {
    let mut page = TestPage::new();
    page.note(&note("a", "x"));
    page.update(Event::Found(FILE.into()));
    assert_eq!(page.update(Event::NotesChanged), []);
    let effects = page.update(Event::Read(Err("offline".to_owned())));
    assert_eq!(shown(&effects).why, "offline");
    assert_eq!(page.update(Event::NotesChanged), []);
    // The server reports a change, so it is back.
    assert_eq!(page.update(Event::FileChanged), [read()]);
    let effects = page.update(file(&Annotations::default()));
    assert_eq!(effects, [write(revision("a", "x", 1))]);
}

#[test]
fn notes_of_the_file_are_merged_and_not_sent_back() {
    let mut page = TestPage::new();
    page.note(&note("a", "x"));
    page.update(Event::Found(FILE.into()));
    let mut theirs = revision("c", "y", 1);
    theirs.merge(revision("a", "newer", 2));
    let effects = page.update(file(&theirs));
    assert_eq!(effects, [Effect::Merge(theirs)]);
    assert_eq!(page.update(Event::NotesChanged), []);
}

#[test]
fn only_notes_on_rows_of_the_server_are_written() {
    let mut page = TestPage::synchronized();
    assert_eq!(page.note(&note("b", "x")), []);
    assert_eq!(page.note(&note("c", "x")), []);
    page.rows.push(row("c", Some(PUBLISHED)));
    let effects = page.update(Event::RowsChanged);
    assert_eq!(effects, [write(revision("c", "x", 1))]);
    let (a, b) = (Text::from("a"), Text::from("b"));
    let ids = BTreeSet::from([&a, &b]);
    assert_eq!(published(&ids, &page.rows), BTreeSet::from([&a]));
}

#[test]
fn changes_during_a_write_are_written_after_it() {
    let mut page = TestPage::synchronized();
    assert_eq!(page.note(&note("a", "x")), [write(revision("a", "x", 1))]);
    assert_eq!(page.note(&note("a", "y")), []);
    assert_eq!(page.note(&note("a", "z")), []);
    assert_eq!(page.update(stored()), [write(revision("a", "z", 3))]);
    assert_eq!(page.update(stored()), []);
    assert_eq!(page.update(Event::NotesChanged), []);
}

#[test]
fn a_deletion_is_written_too() {
    let mut page = TestPage::synchronized();
    page.note(&note("a", "x"));
    page.update(stored());
    assert!(page.notes.delete("note on a", 2.0));
    match page.update(Event::NotesChanged).as_slice() {
        [Effect::Write { notes, .. }] => {
            assert!(notes.iter_all().all(|note| note.deleted));
        }
        other => panic!("not written: {other:?}"),
    }
}

#[test]
fn what_was_refused_is_sent_with_the_next_change_only() {
    let mut page = TestPage::synchronized();
    page.note(&note("a", "x"));
    let effects = page.update(refused());
    assert_eq!(shown(&effects).why, "offline");
    // A reading that adds rows all the time must not repeat the request, and the notice, with each of them.
    page.rows.push(row("c", Some(PUBLISHED)));
    assert_eq!(page.update(Event::RowsChanged), []);
    // Also a note on another trajectory is a change.
    let effects = page.note(&note("b", "y"));
    assert_eq!(effects, [write(revision("a", "x", 1))]);
    page.update(refused());
    assert_eq!(page.update(Event::FileChanged), [read()]);
    let effects = page.update(file(&Annotations::default()));
    assert_eq!(effects, [write(revision("a", "x", 1))]);
}

#[test]
fn rows_of_other_notes_are_not_held_back_by_what_was_refused() {
    let mut page = TestPage::synchronized();
    page.note(&note("c", "y"));
    page.note(&note("a", "x"));
    page.update(refused());
    page.rows.push(row("c", Some(PUBLISHED)));
    let mut both = revision("a", "x", 1);
    both.merge(revision("c", "y", 1));
    assert_eq!(page.update(Event::RowsChanged), [write(both)]);
}

#[test]
fn the_server_says_why_it_refuses() {
    let mut page = TestPage::synchronized();
    let reasons = [
        ("{\"error\": \"The disk is full.\"}", "The disk is full."),
        ("{\"error\": 5}", "The server answered 500."),
        ("<p>Oh</p>", "The server answered 500."),
    ];
    for (body, why) in reasons {
        page.note(&note("a", body));
        let effects = page.update(Event::Written(Ok((500, body.to_owned()))));
        assert_eq!(shown(&effects).why, why);
    }
    let effects = page.update(Event::FileChanged);
    assert_eq!(effects, [read()]);
    let effects = page.update(Event::Read(Ok((404, String::new()))));
    assert_eq!(shown(&effects).why, "The server answered 404.");
}

#[test]
fn one_read_follows_all_changes_during_another() {
    let mut page = TestPage::new();
    page.update(Event::Found(FILE.into()));
    assert_eq!(page.update(Event::FileChanged), []);
    assert_eq!(page.update(Event::FileChanged), []);
    let theirs = revision("a", "x", 1);
    assert_eq!(
        page.update(file(&theirs)),
        [Effect::Merge(theirs.clone()), read()]
    );
    assert_eq!(page.update(file(&theirs)), []);
    assert_eq!(page.update(Event::FileChanged), [read()]);
    page.update(Event::FileChanged);
    let effects = page.update(Event::Read(Err("offline".to_owned())));
    assert!(matches!(&*effects, [Effect::Show(_), Effect::Read(_)]));
}

#[test]
fn a_read_from_before_a_write_takes_nothing_back() {
    let mut page = TestPage::synchronized();
    page.update(Event::FileChanged);
    page.note(&note("a", "x"));
    assert_eq!(page.update(stored()), []);
    assert_eq!(page.update(file(&Annotations::default())), []);
    assert_eq!(page.update(Event::NotesChanged), []);
}

#[test]
fn a_read_during_a_write_starts_no_second_one() {
    let mut page = TestPage::synchronized();
    page.note(&note("a", "x"));
    page.update(Event::FileChanged);
    let theirs = revision("c", "y", 1);
    assert_eq!(page.update(file(&theirs)), [Effect::Merge(theirs)]);
    assert_eq!(page.update(stored()), []);
    assert_eq!(page.update(Event::NotesChanged), []);
}

#[test]
fn a_response_to_no_request_changes_nothing() {
    let mut page = TestPage::synchronized();
    assert_eq!(page.update(stored()), []);
    assert_eq!(page.update(refused()), []);
}
