//! Parses the file of a lesson: a head between lines of `---`, then Markdown with lesson blocks, which are fenced code
//! blocks whose info string is their kind.
//!
//! All problems are collected, so that an author sees them together.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use volary_agent::Fault;
use volary_core::json::{Json, Object};

use crate::actions::actions;
use crate::block::{Field, Fields};
use crate::goal::{self, Goal};
use crate::lesson::{Check, Lesson, Piece, Play, Problem, Question, Recording};
use crate::school_block;
use crate::school_block::SchoolBlock;

/// The maximum size of a file, in bytes.
pub const LARGEST: usize = 256 << 10;
/// The maximum number of pieces: each becomes elements of a page.
const MOST_PIECES: usize = 400;
/// The maximum number of steps of a student's episode.
const MOST_STEPS: u64 = 50;

const KINDS: [&str; 7] = [
    "task", "episode", "check", "hint", "question", "tokens", "school",
];

/// Parses a lesson, or returns all problems.
pub fn parse(text: &str) -> Result<Lesson, Vec<Problem>> {
    if text.len() > LARGEST {
        let message = format!("the file has more than {} KB", LARGEST >> 10);
        return Err(vec![Problem::new(1, message)]);
    }
    let text = text.replace("\r\n", "\n");
    let mut parser = LessonParser::default();
    let body = parser.head(&text);
    parser.body(&text, body);
    parser.refer();
    if parser.problems.is_empty() {
        Ok(parser.lesson)
    } else {
        parser.problems.sort_by_key(|problem| problem.line);
        Err(parser.problems)
    }
}

#[derive(Default)]
struct LessonParser {
    lesson: Lesson,
    problems: Vec<Problem>,
    /// The number of checks and questions so far.
    goals: usize,
}

impl LessonParser {
    /// Parses the head and returns the offset of the body.
    fn head(&mut self, text: &str) -> usize {
        let Some(rest) = text.strip_prefix("---\n") else {
            self.problems.push(Problem::new(
                1,
                "a lesson begins with a head: a line ---, then title, minutes and summary, then a line ---",
            ));
            return 0;
        };
        let Some(end) = rest.find("\n---\n") else {
            self.problems
                .push(Problem::new(1, "the head has no closing line ---"));
            return text.len();
        };
        let head = rest.get(..end).unwrap_or_default();
        if let Err(problem) = self.take_head(head) {
            self.problems.push(problem);
        }
        "---\n".len() + end + "\n---\n".len()
    }

    fn take_head(&mut self, head: &str) -> Result<(), Problem> {
        let mut fields = Fields::read(head, 1)?;
        self.lesson.title = fields.need("title")?.value;
        self.lesson.summary = fields
            .take("summary")
            .map_or(String::new(), |field| field.value);
        let minutes = fields.number("minutes")?;
        let minutes = minutes.filter(|minutes| (1..=240).contains(minutes));
        self.lesson.minutes = minutes.ok_or_else(|| {
            Problem::new(
                1,
                "\"minutes: …\" is missing: how long the lesson takes, from 1 to 240",
            )
        })? as u32;
        fields.end(&["title", "minutes", "summary"])
    }

    fn body(&mut self, text: &str, start: usize) {
        let body = text.get(start..).unwrap_or_default();
        let line_of = |offset: usize| {
            let before = text.get(..start + offset).unwrap_or(text);
            before.matches('\n').count() + 1
        };
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let mut prose = 0;
        let mut depth = 0_usize;
        let mut events = Parser::new_ext(body, options).into_offset_iter();
        while let Some((event, range)) = events.next() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let mut inside = String::new();
                    for (event, _) in events.by_ref() {
                        match event {
                            Event::Text(part) => inside.push_str(&part),
                            Event::End(TagEnd::CodeBlock) => break,
                            _ => {}
                        }
                    }
                    let kind = info.trim();
                    let line = line_of(range.start);
                    if let Some(meant) = misspelled(kind) {
                        let message =
                            format!("unknown block \"{kind}\"; did you mean \"{meant}\"?");
                        self.problems.push(Problem::new(line, message));
                    }
                    if !KINDS.contains(&kind) {
                        continue;
                    }
                    if depth > 0 {
                        let message =
                            format!("the block \"{kind}\" must not be in a list or a quote");
                        self.problems.push(Problem::new(line, message));
                        continue;
                    }
                    self.prose(body.get(prose..range.start));
                    prose = range.end;
                    match self.block(kind, &inside, line) {
                        Ok(piece) => self.push(piece, line),
                        Err(problem) => self.problems.push(problem),
                    }
                }
                Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                    self.prose(body.get(prose..range.start));
                    prose = range.end;
                    let mut text = String::new();
                    for (event, _) in events.by_ref() {
                        match event {
                            Event::Text(part) | Event::Code(part) => text.push_str(&part),
                            Event::End(TagEnd::Heading(_)) => break,
                            _ => {}
                        }
                    }
                    // The title of the lesson is the only level-1 heading.
                    let level = match level {
                        HeadingLevel::H1 | HeadingLevel::H2 => 2,
                        _ => 3,
                    };
                    self.push(Piece::Heading { level, text }, line_of(range.start));
                }
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.prose(body.get(prose..));
    }

    fn prose(&mut self, text: Option<&str>) {
        let text = text.unwrap_or_default().trim_matches('\n');
        if !text.trim().is_empty() {
            self.lesson.pieces.push(Piece::Prose(text.to_owned()));
        }
    }

    fn push(&mut self, piece: Piece, line: usize) {
        if self.lesson.pieces.len() == MOST_PIECES {
            let message = format!("a lesson has at most {MOST_PIECES} pieces");
            self.problems.push(Problem::new(line, message));
        }
        if self.lesson.pieces.len() < MOST_PIECES {
            self.lesson.pieces.push(piece);
        }
    }

    fn block(&mut self, kind: &str, text: &str, line: usize) -> Result<Piece, Problem> {
        match kind {
            "hint" => Ok(Piece::Hint(text.to_owned())),
            "tokens" => tokens(text, line),
            "question" => self.question(Fields::read(text, line)?),
            "check" => self.check(Fields::read(text, line)?),
            "school" => Ok(Piece::School(SchoolBlock::take(Fields::read(text, line)?)?)),
            kind => play(Fields::read(text, line)?, kind == "task"),
        }
    }

    fn check(&mut self, mut fields: Fields) -> Result<Piece, Problem> {
        let line = fields.line();
        let of = fields.need("for")?.value;
        let text = fields.take("text");
        let afterwards = fields.take("afterwards");
        let goal = Goal::take(&mut fields)?;
        let known = ["for", "text", "afterwards"].into_iter().chain(goal::KEYS);
        fields.end(&known.collect::<Vec<_>>())?;
        self.goals += 1;
        Ok(Piece::Check(Check {
            number: self.goals,
            of,
            text: text.map_or_else(|| goal.describe(), |field| field.value),
            goal,
            afterwards: afterwards.map_or(String::new(), |field| field.value),
            line,
        }))
    }

    fn question(&mut self, mut fields: Fields) -> Result<Piece, Problem> {
        let text = fields.need("text")?.value;
        let field = fields.need("answers")?;
        let afterwards = fields
            .take("afterwards")
            .map_or(String::new(), |field| field.value);
        fields.end(&["text", "answers", "afterwards"])?;
        let mut answers = Vec::new();
        for (place, line) in field.value.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let right = line
                .strip_prefix("[x]")
                .or_else(|| line.strip_prefix("[X]"));
            let answer = match (right, line.strip_prefix("[ ]")) {
                (Some(text), _) => (true, text.trim().to_owned()),
                (None, Some(text)) => (false, text.trim().to_owned()),
                _ => {
                    return Err(Problem::new(
                        field.value_line + place,
                        "an answer begins with [ ], the right one with [x]",
                    ));
                }
            };
            answers.push(answer);
        }
        let right = answers.iter().filter(|(right, _)| *right).count();
        if answers.len() < 2 || right != 1 {
            return Err(Problem::new(
                field.line,
                "a question has at least two answers, of which exactly one begins with [x]",
            ));
        }
        self.goals += 1;
        Ok(Piece::Question(Question {
            number: self.goals,
            text,
            answers,
            afterwards,
        }))
    }

    /// Checks that every check refers to an episode or a task, and that names are unique.
    fn refer(&mut self) {
        let mut ids: Vec<&str> = Vec::new();
        let mut problems = Vec::new();
        for play in self.lesson.plays() {
            if ids.contains(&&*play.id) {
                let message = format!("the id \"{}\" is used twice", play.id);
                problems.push(Problem::new(play.line, message));
            }
            ids.push(&play.id);
        }
        let mut schools: Vec<&str> = Vec::new();
        for block in self.lesson.school_blocks() {
            if ids.contains(&&*block.id) {
                let message = format!("the id \"{}\" is used twice", block.id);
                problems.push(Problem::new(block.line, message));
            }
            ids.push(&block.id);
            schools.push(&block.id);
        }
        for check in self.lesson.checks() {
            let is_of_school = matches!(check.goal, Goal::School(_));
            if is_of_school && schools.contains(&&*check.of) {
                continue;
            }
            if is_of_school || schools.contains(&&*check.of) {
                problems.push(Problem::new(
                    check.line,
                    format!(
                        "a check of a block \"school\" has the keys {}, and other checks do not",
                        school_block::KEYS.join(", ")
                    ),
                ));
                continue;
            }
            let Some(play) = self.lesson.plays().find(|play| play.id == check.of) else {
                let message = match ids.as_slice() {
                    [] => format!("unknown task or episode \"{}\"", check.of),
                    ids => format!(
                        "unknown task or episode \"{}\"; available: {}",
                        check.of,
                        ids.join(", ")
                    ),
                };
                problems.push(Problem::new(check.line, message));
                continue;
            };
            let is_met_by_reading = matches!(check.goal, Goal::Step(_));
            if !is_met_by_reading && !play.is_playable {
                problems.push(Problem::new(
                    check.line,
                    format!(
                        "\"{}\" is an episode, which is not played; a check of it uses the key \"find step\"",
                        check.of
                    ),
                ));
            }
        }
        self.problems.extend(problems);
    }
}

/// The kind of block that an unknown word is probably a misspelling of.
fn misspelled(word: &str) -> Option<&'static str> {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let letters = sorted(word);
    KINDS.into_iter().find(|kind| {
        *kind != word
            && (letters == sorted(kind)
                || word.eq_ignore_ascii_case(&format!("{kind}s"))
                || format!("{word}s").eq_ignore_ascii_case(kind))
    })
}

fn play(mut fields: Fields, is_playable: bool) -> Result<Piece, Problem> {
    let line = fields.line();
    let id = fields.need("id")?.value;
    let title = fields.take("title");
    let environment = fields.need("environment")?.value;
    let task = fields.take("task").map(|field| field.value);
    let configuration = fields.take("configuration");
    if let (Some(_), Some(field)) = (&task, &configuration) {
        let message = "give a task or a configuration, not both";
        return Err(Problem::new(field.line, message));
    }
    let seed = fields.number("seed")?.unwrap_or_default();
    let recorded = fields.take("actions");
    let student = fields.take("student");
    let student_seed = fields.number("student seed")?.unwrap_or_default();
    let steps = fields.number("student steps")?.unwrap_or(6);
    let solution = if is_playable {
        fields.take("solution")
    } else {
        None
    };
    let known = [
        "id",
        "title",
        "environment",
        "task",
        "configuration",
        "seed",
        "actions",
        "student",
        "student seed",
        "student steps",
        "solution (of a task)",
    ];
    fields.end(&known)?;
    if !(1..=MOST_STEPS).contains(&steps) {
        let message = format!("\"student steps\" must be from 1 to {MOST_STEPS}");
        return Err(Problem::new(line, message));
    }
    let recording = match (recorded, student) {
        (Some(_), Some(field)) => {
            return Err(Problem::new(
                field.line,
                "give actions or a student, not both",
            ));
        }
        (None, Some(field)) => Recording::Student {
            fault: fault(&field)?,
            seed: student_seed,
            steps: steps as usize,
        },
        (recorded, None) => Recording::Actions(match recorded {
            Some(field) => actions(&field)?,
            None => Vec::new(),
        }),
    };
    if !is_playable && recording == Recording::Actions(Vec::new()) {
        return Err(Problem::new(
            line,
            "an episode needs \"actions\" or \"student\"; to let the reader act, write a task",
        ));
    }
    Ok(Piece::Play(Box::new(Play {
        title: title.map_or_else(String::new, |field| field.value),
        id,
        environment,
        task,
        configuration: configuration.map_or(Ok(Object::new()), |field| object(&field))?,
        seed,
        recording,
        is_playable,
        solution: solution.map_or(Ok(Vec::new()), |field| actions(&field))?,
        line,
    })))
}

fn fault(field: &Field) -> Result<Fault, Problem> {
    Fault::of_name(&field.value).ok_or_else(|| {
        Problem::new(
            field.line,
            format!(
                "unknown fault \"{}\"; available: {}",
                field.value,
                Fault::ALL.map(Fault::name).join(", ")
            ),
        )
    })
}

fn object(field: &Field) -> Result<Object, Problem> {
    match Json::parse(&field.value) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::new(
            field.line,
            format!(
                "\"{}\" must be a JSON object such as {{\"answer\": 4}}",
                field.key
            ),
        )),
        Err(error) => Err(Problem::new(
            field.value_line + error.line - 1,
            format!("\"{}\" is not JSON: {}", field.key, error.problem),
        )),
    }
}

fn tokens(text: &str, line: usize) -> Result<Piece, Problem> {
    let mut tokens = Vec::new();
    for (place, row) in text.lines().enumerate() {
        if row.trim().is_empty() {
            continue;
        }
        let token = match row.split_at_checked(2) {
            Some(("0 ", text)) => (false, text.to_owned()),
            Some(("1 ", text)) => (true, text.to_owned()),
            _ => {
                return Err(Problem::new(
                    line + 1 + place,
                    "a line of tokens begins with its mask, 0 or 1, and a space",
                ));
            }
        };
        tokens.push(token);
    }
    if tokens.is_empty() {
        Err(Problem::new(line, "the block has no tokens"))
    } else {
        Ok(Piece::Tokens(tokens))
    }
}

#[cfg(test)]
mod tests;
