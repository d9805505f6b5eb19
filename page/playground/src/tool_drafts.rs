//! Drafts of the forms of tools that are not selected, so that selecting another tool loses nothing.
//!
//! Invariant: a draft is restored only for the schema that it was typed for, because another episode may have a
//! different tool of the same name.

use std::collections::HashMap;

use volary_core::json::{Json, Text};
use volary_view::form::Form;

/// Unfinished forms by tool name.
#[derive(Clone, Debug, Default)]
pub struct ToolDrafts(HashMap<Text, Form>);

impl ToolDrafts {
    /// Stores the form of a tool before another tool's form replaces it on screen.
    pub fn put(&mut self, tool: Text, form: Form) {
        self.0.insert(tool, form);
    }

    /// Removes and returns the draft of a tool if it matches this schema; otherwise returns a blank form.
    pub fn take(&mut self, tool: &str, schema: Json) -> Form {
        match self.0.remove(tool) {
            Some(draft) if *draft.schema() == schema => draft,
            _ => Form::new(schema),
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    fn schema(kind: &str) -> Json {
        json!({"type": "object", "properties": {"x": {"type": (kind)}}})
    }

    fn typed(schema: Json) -> Form {
        let mut form = Form::new(schema);
        form.edit_raw();
        form.set_raw("half of it".into());
        form
    }

    #[test]
    fn a_draft_comes_back_once() {
        let mut drafts = ToolDrafts::default();
        let draft = typed(schema("string"));
        drafts.put("f".into(), draft.clone());
        assert_eq!(drafts.take("f", schema("string")).mode(), draft.mode());
        assert_eq!(
            drafts.take("f", schema("string")).mode(),
            Form::new(schema("string")).mode()
        );
    }

    #[test]
    fn a_draft_for_another_schema_is_dropped() {
        let mut drafts = ToolDrafts::default();
        drafts.put("f".into(), typed(schema("string")));
        assert_eq!(
            drafts.take("f", schema("integer")).mode(),
            Form::new(schema("integer")).mode()
        );
    }
}
