//! Tools from and to JSON.

use super::{FunctionInfo, Parameters, Tool};
use crate::fields::{self, FieldError};
use crate::json::{Json, Key, Object};

/// Options for dumping tools. The default is aviary's.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolDumpOptions {
    /// Whether to write the function under `function`, as models require, instead of `info`.
    pub by_alias: bool,
    /// Whether to omit null parameters, null extras and null members of each property. This also
    /// drops a `default` of null.
    pub exclude_none: bool,
}

impl ToolDumpOptions {
    /// The options for models and HTTP: by alias, without nulls.
    pub const WIRE: ToolDumpOptions = ToolDumpOptions {
        by_alias: true,
        exclude_none: true,
    };
}

impl Tool {
    /// Reads a tool: its function is under `function` or `info`.
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        if let Some(kind) = object.get("type") {
            fields::constant("type", kind, "function")?;
        }
        let (key, info) = match (object.get("function"), object.get("info")) {
            (Some(info), _) => ("function", info),
            (None, Some(info)) => ("info", info),
            (None, None) => return Err(FieldError::new("function", "is required")),
        };
        let info = FunctionInfo::read(info).map_err(|error| error.within(key))?;
        let concurrency_safe = match object.get("concurrency_safe") {
            Some(flag) => fields::flag("concurrency_safe", flag)?,
            None => true,
        };
        Ok(Tool {
            info,
            concurrency_safe,
        })
    }

    /// The tool as JSON.
    pub fn dump(&self, options: ToolDumpOptions) -> Object {
        let key = if options.by_alias { "function" } else { "info" };
        Object::from_distinct(vec![
            ("type".into(), "function".into()),
            (key.into(), self.info.dump(options.exclude_none).into()),
        ])
    }
}

impl FunctionInfo {
    /// Reads the description of a tool. All three fields are required.
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        let name = fields::text("name", fields::required(object, "name")?)?;
        let description = fields::text("description", fields::required(object, "description")?)?;
        let parameters = match fields::required(object, "parameters")? {
            Json::Null => None,
            value => Some(Parameters::read(value).map_err(|error| error.within("parameters"))?),
        };
        Ok(FunctionInfo {
            name,
            description,
            parameters,
        })
    }

    /// The info as JSON.
    pub fn dump(&self, exclude_none: bool) -> Object {
        let mut pairs: Vec<(Key, Json)> = vec![
            ("name".into(), self.name.clone().into()),
            ("description".into(), self.description.clone().into()),
        ];
        match &self.parameters {
            Some(parameters) => {
                pairs.push(("parameters".into(), parameters.dump(exclude_none).into()));
            }
            None if exclude_none => {}
            None => pairs.push(("parameters".into(), Json::Null)),
        }
        Object::from_distinct(pairs)
    }
}

impl Parameters {
    /// Reads the schema of a tool's arguments.
    pub fn read(value: &Json) -> Result<Self, FieldError> {
        let object = fields::object("", value)?;
        if let Some(kind) = object.get("type") {
            fields::constant("type", kind, "object")?;
        }
        let properties = fields::object("properties", fields::required(object, "properties")?)?;
        for (name, property) in properties.iter() {
            fields::object(name, property).map_err(|error| error.within("properties"))?;
        }
        let names = fields::list("required", fields::required(object, "required")?)?;
        let required = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                fields::text(&format!("[{index}]"), name).map_err(|error| error.within("required"))
            })
            .collect::<Result<_, _>>()?;
        let mut extras = object.clone();
        extras.retain(|key, _| !matches!(&**key, "type" | "properties" | "required"));
        Ok(Parameters {
            properties: properties.clone(),
            required,
            extras,
        })
    }

    /// The schema as JSON.
    pub fn dump(&self, exclude_none: bool) -> Object {
        let properties = if exclude_none {
            let properties = self.properties.iter().map(|(name, property)| {
                let mut property = property.clone();
                if let Json::Object(members) = &mut property {
                    members.retain(|_, value| !value.is_null());
                }
                (Key::clone(name), property)
            });
            Object::from_distinct(properties.collect())
        } else {
            self.properties.clone()
        };
        let mut pairs: Vec<(Key, Json)> = vec![
            ("type".into(), "object".into()),
            ("properties".into(), properties.into()),
            ("required".into(), self.required.clone().into()),
        ];
        pairs.extend(
            self.extras
                .iter()
                .filter(|(_, value)| !(exclude_none && value.is_null()))
                .map(|(key, value)| (Key::clone(key), value.clone())),
        );
        Object::from_distinct(pairs)
    }
}
