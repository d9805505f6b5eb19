//! Frames, and the files of a trajectory.

use volary_core::renderer::{DEFAULT_INDENT, DEFAULT_NAME, ExtraFile, Renderer};
use volary_core::{Frame, Json, Object, json};

use super::input::{given, list, object, required, text, told};

pub(super) fn dump(input: &Json) -> Result<Json, String> {
    Frame::read(input)
        .map(|frame| frame.dump().into())
        .map_err(told)
}

pub(super) fn render(input: &Json) -> Result<Json, String> {
    let id = match required(input, "id")? {
        Json::Text(id) => id.clone(),
        Json::Integer(id) => id.to_string().into(),
        _ => return Err("an id is a text or an integer".to_owned()),
    };
    let name = match given(input, "name") {
        Some(_) => text(input, "name")?,
        None => DEFAULT_NAME.into(),
    };
    let indent = match input.get("indent") {
        None => Some(DEFAULT_INDENT),
        Some(Json::Null) => None,
        Some(indent) => {
            let indent = indent
                .as_i64()
                .and_then(|indent| usize::try_from(indent).ok());
            Some(indent.ok_or("an indent is a whole number, not below zero")?)
        }
    };
    let frames: Vec<Frame> = list(input, "frames")?
        .iter()
        .map(Frame::read)
        .collect::<Result<_, _>>()
        .map_err(told)?;
    let extra_files = object(input, "extra_files")?
        .into_iter()
        .map(|(path, text)| ExtraFile {
            path: path.into_owned(),
            text: text.as_text().map(|text| text.to_string()),
        })
        .collect();
    let renderer = Renderer::new(text(input, "prefix")?, id, name).map_err(told)?;
    let files: Object = renderer
        .build(&frames, indent, extra_files)
        .files
        .into_iter()
        .map(|file| (file.name.into(), file.text.into()))
        .collect();
    Ok(json!({"files": files}))
}
