//! Recorded tokens in the native format: `{ids, trained: [[start, end]], prompt, parts: [[step, message, start, end]],
//! streams: {name: [number or null]}}`, and flags that are omitted if they are false: `undivided`, `unknown_mask`,
//! `reconstructed`. `misfits` of `{name, values, expected}`.

use std::ops::Range;

use volary_core::json::Key;
use volary_core::json::value_writer::ValueWriter;
use volary_core::{TokenId, TokenStream, TokenStrip};

use super::node::{Fault, Node};
use crate::token_record::{StreamMisfit, TokenPart, TokenRecord};

/// Writes a record.
pub(super) fn put(writer: ValueWriter<'_>, record: &TokenRecord) {
    writer.object(|members| {
        let strip = &record.strip;
        let ids = members.at("ids");
        ids.list(strip.ids(), |writer, id| writer.integer(i64::from(*id)));
        members
            .at("trained")
            .list(runs(strip.mask()), |writer, run| {
                writer.list([run.start, run.end], count);
            });
        count(members.at("prompt"), record.prompt);
        members.at("parts").list(&record.parts, |writer, part| {
            let TokenPart {
                step,
                message,
                range,
            } = part;
            writer.list([*step, *message, range.start, range.end], count);
        });
        members.at("streams").object(|members| {
            for (name, stream) in strip.streams() {
                let writer = members.under(&Key::from(name.to_string()));
                writer.list(stream.iter(), |writer, value| match value {
                    Some(value) => writer.float(value),
                    None => writer.json(&volary_core::Json::Null),
                });
            }
        });
        let flags = [
            ("undivided", !record.is_divided),
            ("unknown_mask", !record.is_mask_known),
            ("reconstructed", record.is_reconstructed),
        ];
        for (key, is_on) in flags {
            if is_on {
                members.at(key).flag(true);
            }
        }
        if !record.misfits.is_empty() {
            members
                .at("misfits")
                .list(&record.misfits, |writer, misfit| {
                    writer.object(|members| {
                        members.at("name").text(&misfit.name);
                        count(members.at("values"), misfit.values);
                        count(members.at("expected"), misfit.expected);
                    });
                });
        }
    });
}

fn count(writer: ValueWriter<'_>, count: usize) {
    writer.integer(count as i128);
}

/// Reads a record.
pub(super) fn read(node: Node<'_>) -> Result<TokenRecord, Fault> {
    let ids = node.member("ids", |node| {
        node.each(|node| {
            let id = TokenId::try_from(node.count()?);
            id.map_err(|_| node.refuse("is too large for the id of a token"))
        })
    })?;
    let mut mask = vec![false; ids.len()];
    for (index, run) in node.member("trained", counts)?.iter().enumerate() {
        let flags = match run.as_slice() {
            [start, end] => mask.get_mut(*start..*end),
            _ => None,
        };
        match flags {
            Some(flags) => flags.fill(true),
            None => return Err(node.refuse(format!("has a false range, `trained[{index}]`"))),
        }
    }
    let tokens = ids.len();
    let part = |part: Vec<usize>| match part.as_slice() {
        [step, message, start, end] if start <= end && *end <= tokens => Ok(TokenPart {
            step: *step,
            message: *message,
            range: *start..*end,
        }),
        _ => Err(node.refuse("has a false part")),
    };
    let parts = node.member("parts", counts)?.into_iter().map(part);
    let parts: Vec<TokenPart> = parts.collect::<Result<_, _>>()?;
    let prompt = node.member("prompt", |node| node.count())?;
    // Both have the same length.
    let mut strip = TokenStrip::new(ids, mask).unwrap_or_default();
    let streams = node.optional("streams", |node| {
        node.each_member(|name, node| {
            let values = node.list()?.iter();
            let stream: TokenStream = values.map(volary_core::Json::as_f64).collect();
            Ok((name.to_owned(), stream))
        })
    })?;
    for (name, stream) in streams.unwrap_or_default() {
        let set = strip.set_stream(name, stream);
        set.map_err(|error| node.refuse(error.to_string()))?;
    }
    let flag = |key| node.optional(key, |node| node.boolean());
    let misfits = node.optional("misfits", |node| {
        node.each(|node| {
            Ok(StreamMisfit {
                name: node.member("name", |node| node.text())?,
                values: node.member("values", |node| node.count())?,
                expected: node.member("expected", |node| node.count())?,
            })
        })
    })?;
    Ok(TokenRecord {
        strip,
        prompt: prompt.min(tokens),
        parts,
        is_divided: !flag("undivided")?.unwrap_or_default(),
        is_mask_known: !flag("unknown_mask")?.unwrap_or_default(),
        is_reconstructed: flag("reconstructed")?.unwrap_or_default(),
        misfits: misfits.unwrap_or_default(),
    })
}

fn counts(node: Node<'_>) -> Result<Vec<Vec<usize>>, Fault> {
    node.each(|node| node.each(|node| node.count()))
}

/// The runs of trained tokens.
fn runs(mask: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (token, _) in mask
        .iter()
        .enumerate()
        .filter(|(_, is_trained)| **is_trained)
    {
        match runs.last_mut() {
            Some(run) if run.end == token => run.end += 1,
            _ => runs.push(token..token + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use volary_core::Json;

    use super::super::{episode_from_json, to_text};
    use crate::episode::Episode;
    use crate::token_record::{Alignment, LossMask, TokenRecordBuilder};

    #[test]
    fn a_record_comes_back_with_gaps_and_special_numbers() {
        let mask = LossMask::Response(vec![true, false, true]);
        let mut builder = TokenRecordBuilder::new(vec![9, 8, 7, 4_000_000_000], mask).unwrap();
        let values = [Some(f64::NAN), Some(0.0), None].into_iter().collect();
        builder.stream("log_probs", &values, Alignment::Response);
        let values = [-0.5, 0.0].into_iter().collect();
        builder.stream("advantages", &values, Alignment::Compact);
        builder.stream("long", &values, Alignment::Full);
        let episode = Episode::default();
        let episode = Episode {
            tokens: Some(Arc::new(builder.divided(&episode))),
            ..episode
        };
        let text = to_text(&episode);
        let again = episode_from_json(&Json::parse(&text).unwrap()).unwrap();
        assert_eq!(again.tokens, episode.tokens);
        assert_eq!(again.tokens.unwrap().misfits.len(), 1);
        let damaged = text.replace("\"trained\": [[1, 2]", "\"trained\": [[1, 9]");
        assert_ne!(damaged, text);
        assert!(episode_from_json(&Json::parse(&damaged).unwrap()).is_err());
    }
}
