//! What tests/interop asks of Volary: it talks JSON on standard input and output, so that tests in
//! Python can compare with the original.
//!
//! - `render PREFIX ID NAME`: frames in, `{file name: text}` out, as a Renderer writes them.
//! - `zip`: frames in, the names of our zip's members out; the zip itself goes to the path `OUT`.
//! - `import FILE...`: `{episodes: [{id, name, frames}], notes}` of files on disk.
//! - `summaries FILE...`: of each episode in files on disk what a table shows, and the notes.
//! - `export FORMAT FILE...`: the episodes of files on disk as the text of another format: `atif`, `ldp` (of
//!   the first one, with its subagents), `inspect`, `csv`, `html`, `native`.
//! - `messages`, `tools`: reads each of a list and dumps it again.
//! - `jsonl`: messages and tools as an episode's line of `messages_jsonl`.

use std::io::Read;
use std::path::Path;

use volary_analysis::csv;
use volary_analysis::table::Row;
use volary_core::json::{Json, Object};
use volary_core::message::DumpOptions;
use volary_core::renderer::Renderer;
use volary_core::tool::ToolDumpOptions;
use volary_core::{AnyMessage, Tool, json};
use volary_episode::Episode;
use volary_episode::native::{self, frame_from_json, frame_to_json};
use volary_export::{self as export, messages_jsonl};
use volary_formats::import::{ImportOutcome, InputFile, import};
use volary_formats::renderer_files;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match arguments.as_slice() {
        ["render", prefix, id, name] => render(&Renderer::new(*prefix, *id, *name)?)?,
        ["zip", out] => zip(Path::new(out))?,
        ["import", files @ ..] => imported(files)?,
        ["summaries", files @ ..] => summaries(files)?,
        ["export", format, files @ ..] => exported(format, files)?,
        ["messages"] => each(message)?,
        ["tools"] => each(tool)?,
        ["jsonl"] => messages_line()?,
        other => return Err(format!("not understood: {other:?}").into()),
    };
    println!("{}", answer.to_python_text());
    Ok(())
}

fn input() -> Result<Json, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(Json::parse(&text)?)
}

fn each<T: Into<Json>>(read: fn(&Json) -> Result<T, Failure>) -> Result<Json, Failure> {
    let input = input()?;
    let values = input.as_list().ok_or("a list is needed")?.iter();
    let read: Vec<T> = values.map(read).collect::<Result<_, _>>()?;
    Ok(read.into())
}

fn frames() -> Result<Vec<volary_core::Frame>, Failure> {
    let input = input()?;
    let frames = input.as_list().ok_or("a list is needed")?.iter();
    Ok(frames.map(frame_from_json).collect::<Result<_, _>>()?)
}

fn render(renderer: &Renderer) -> Result<Json, Failure> {
    let rendered = renderer.build(&frames()?, Some(4), Vec::new());
    let files = rendered.files.into_iter();
    let files = files.map(|file| (file.name.into(), file.text.into()));
    Ok(Object::from_pairs(files.collect()).into())
}

fn zip(out: &Path) -> Result<Json, Failure> {
    let episode = Episode {
        id: "one".into(),
        name: "From Volary".into(),
        frames: frames()?.into_iter().collect(),
        ..Episode::default()
    };
    let zip = renderer_files::to_zip(&episode)?;
    std::fs::write(out, zip)?;
    Ok(Json::Null)
}

fn read(paths: &[&str]) -> Result<ImportOutcome, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let name = Path::new(path).file_name().unwrap_or_default();
        files.push(InputFile {
            name: Some(name.to_string_lossy().into_owned()),
            bytes: std::fs::read(path)?,
        });
    }
    Ok(import(&files)?)
}

fn noted(outcome: &ImportOutcome) -> Vec<Json> {
    let notes = outcome.notes.iter();
    notes.map(|note| Json::from(note.text.clone())).collect()
}

fn summaries(paths: &[&str]) -> Result<Json, Failure> {
    let outcome = read(paths)?;
    let count = |count: usize| Json::from(i64::try_from(count).unwrap_or_default());
    let episodes = outcome.episodes.iter().map(|episode| {
        let links = episode.links.iter();
        let links: Vec<Json> = links
            .map(|link| json!([(link.relation.as_str()), (link.episode.clone())]))
            .collect();
        json!({
            "id": (episode.id.clone()),
            "name": (episode.name.clone()),
            "model": (episode.model.clone()),
            "task": (episode.task().map(|task| task.id.clone())),
            "start": (count(episode.start.len())),
            "steps": (count(episode.steps.len())),
            "calls": (count(episode.calls())),
            "frames": (count(episode.frames.len())),
            "reward": (episode.reward()),
            "cost": (episode.usage().cost),
            "seconds": (episode.seconds),
            "ending": (format!("{:?}", episode.ending)),
            "outcome": (episode.outcome.clone()),
            "links": links
        })
    });
    Ok(json!({
        "episodes": (episodes.collect::<Vec<_>>()),
        "notes": (noted(&outcome))
    }))
}

fn exported(format: &str, paths: &[&str]) -> Result<Json, Failure> {
    let outcome = read(paths)?;
    let episodes: Vec<&Episode> = outcome.episodes.iter().collect();
    let first = episodes.first().ok_or("there is no episode")?;
    let text = match format {
        "atif" => export::atif::to_text(first, &episodes),
        "ldp" => export::ldp::to_text(first),
        "inspect" => export::inspect::to_text(&episodes, "made"),
        "csv" => {
            let rows: Vec<Row> = episodes
                .iter()
                .map(|one| Row::of(one, Vec::new()))
                .collect();
            csv::to_text(&rows, &csv::COLUMNS)
        }
        "html" => export::html::to_text(first),
        "native" => episodes
            .iter()
            .map(|one| native::to_text(one) + "\n")
            .collect(),
        other => return Err(format!("not understood: {other}").into()),
    };
    Ok(text.into())
}

fn imported(paths: &[&str]) -> Result<Json, Failure> {
    let outcome = read(paths)?;
    let episodes = outcome.episodes.iter().map(|episode| {
        let frames = (0..episode.frames.len()).filter_map(|index| episode.frames.get(index));
        let frames: Vec<Json> = frames.map(|frame| frame_to_json(&frame)).collect();
        json!({ "id": (episode.id.clone()), "name": (episode.name.clone()), "frames": frames })
    });
    Ok(json!({
        "episodes": (episodes.collect::<Vec<_>>()),
        "notes": (noted(&outcome))
    }))
}

fn message(value: &Json) -> Result<Object, Failure> {
    Ok(AnyMessage::read(value)?.dump(&DumpOptions::with_info())?)
}

fn tool(value: &Json) -> Result<Object, Failure> {
    let options = ToolDumpOptions {
        by_alias: true,
        exclude_none: false,
    };
    Ok(Tool::read(value)?.dump(options))
}

fn messages_line() -> Result<Json, Failure> {
    let input = input()?;
    let list = |key: &str| input.get(key).and_then(Json::as_list).unwrap_or_default();
    let messages = list("messages").iter().map(AnyMessage::read);
    let tools = list("tools").iter().map(Tool::read);
    let episode = Episode {
        start: messages.collect::<Result<_, _>>()?,
        tools: tools.collect::<Result<_, _>>()?,
        ..Episode::default()
    };
    Ok(messages_jsonl::line(&episode).into())
}
