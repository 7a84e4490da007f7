//! What a startup hook answers.

use serde_json::Value;

use super::fields::Fields;

/// A change of e's launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupAnswer {
    /// The command line from now on, without the program's name.
    pub argv: Option<Vec<String>>,
    /// Variables that are set, or removed where there is no value.
    pub env: Variables,
    /// A start of the same e in another directory, instead of going on here.
    pub relaunch: Option<Relaunch>,
}

/// Changes of the environment, in order.
pub type Variables = Vec<(String, Option<String>)>;

/// Where and how e is started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaunch {
    /// The directory; a relative one is below the current one.
    pub cwd: String,
    /// Changes of the environment for the new process.
    pub env: Variables,
}

impl StartupAnswer {
    /// Reads the result of `hook.startup`.
    pub fn parse(result: &Value) -> Result<Self, String> {
        if result.is_null() {
            return Ok(Self::default());
        }
        let fields = Fields::of(result, "the answer")?;
        let argv = fields.texts("argv")?;
        let argv = argv.map(|argv| argv.into_iter().map(String::from).collect::<Vec<_>>());
        if argv.iter().flatten().any(|arg| arg.contains('\0')) {
            return Err("`argv` holds a zero byte".into());
        }
        let relaunch = match fields.object("relaunch")? {
            None => None,
            Some(relaunch) => {
                let cwd = relaunch.words("cwd")?.to_owned();
                if cwd.contains('\0') {
                    return Err("`relaunch.cwd` holds a zero byte".into());
                }
                let env = variables(&relaunch)?;
                Some(Relaunch { cwd, env })
            }
        };
        Ok(Self {
            argv,
            env: variables(&fields)?,
            relaunch,
        })
    }
}

fn variables(fields: &Fields<'_>) -> Result<Variables, String> {
    let path = fields.path("env");
    let Some(Value::Object(env)) = fields.get("env") else {
        return match fields.get("env") {
            None => Ok(Vec::new()),
            Some(_) => Err(format!("`{path}` must be an object")),
        };
    };
    env.iter()
        .map(|(name, value)| {
            let value = match value {
                Value::Null => None,
                Value::String(value) if !value.contains('\0') => Some(value.clone()),
                _ => return Err(format!("`{path}.{name}` must be a string or null")),
            };
            match name.is_empty() || name.contains(['=', '\0']) {
                true => Err(format!("`{path}` has a name that no variable can have")),
                false => Ok((name.clone(), value)),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_typed() {
        assert_eq!(
            StartupAnswer::parse(&json!({})),
            Ok(StartupAnswer::default())
        );
        let answer = json!({
            "argv": ["-c"], "env": {"A": null, "B": "x"},
            "relaunch": {"cwd": "/p", "env": {"C": "1"}, "exe": "/bin/false"},
        });
        let expected = StartupAnswer {
            argv: Some(vec!["-c".into()]),
            env: vec![("A".into(), None), ("B".into(), Some("x".into()))],
            relaunch: Some(Relaunch {
                cwd: "/p".into(),
                env: vec![("C".into(), Some("1".into()))],
            }),
        };
        assert_eq!(StartupAnswer::parse(&answer), Ok(expected));
        for (bad, problem) in [
            (json!([]), "the answer is not an object"),
            (json!({"argv": "x"}), "`argv` must be a list"),
            (json!({"argv": [1]}), "`argv[0]` must be a string"),
            (json!({"argv": ["a\u{0}"]}), "`argv` holds a zero byte"),
            (json!({"env": []}), "`env` must be an object"),
            (json!({"env": {"A": 1}}), "`env.A` must be a string or null"),
            (
                json!({"env": {"A=B": "1"}}),
                "`env` has a name that no variable can have",
            ),
            (json!({"relaunch": {}}), "`relaunch.cwd` is missing"),
            (
                json!({"relaunch": {"cwd": "/", "env": {"A": {}}}}),
                "`relaunch.env.A` must be a string or null",
            ),
        ] {
            assert_eq!(StartupAnswer::parse(&bad), Err(problem.into()), "{bad}");
        }
    }
}
