//! Completion scripts for bash, zsh and fish.

use std::fmt::Write;

use crate::cli::docs;
use crate::cli::flags::{COMMANDS, CommandId, Flag};

/// What to offer after a command or an option.
#[derive(Clone, Copy, PartialEq)]
enum Offer {
    Nothing,
    Files,
    Folders,
    Topics,
    /// What `e ext` does, then files.
    Parts,
}

fn for_command(id: CommandId) -> Offer {
    match id {
        CommandId::Trust | CommandId::Untrust => Offer::Folders,
        CommandId::Docs => Offer::Topics,
        CommandId::Ext => Offer::Parts,
        CommandId::Auth
        | CommandId::Doctor
        | CommandId::Help
        | CommandId::Models
        | CommandId::Providers
        | CommandId::Rpc => Offer::Nothing,
    }
}

fn for_value(value: &str) -> Offer {
    match value {
        "path" | "file" => Offer::Files,
        _ => Offer::Nothing,
    }
}

fn command_names() -> String {
    COMMANDS
        .iter()
        .map(|command| command.name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// For bash.
pub fn bash() -> String {
    let mut cases = String::new();
    for (flag, _) in Flag::documented() {
        if let Some(value) = flag.value {
            let _ = writeln!(
                cases,
                "        {}) {} ;;",
                flag.spellings().join("|"),
                bash_offer(for_value(value))
            );
        }
    }
    for command in COMMANDS {
        let offer = for_command(command.id);
        if offer != Offer::Nothing {
            let _ = writeln!(cases, "        {}) {} ;;", command.name, bash_offer(offer));
        }
        if offer == Offer::Parts {
            let _ = writeln!(
                cases,
                "        check|trace) {} ;;",
                bash_offer(Offer::Files)
            );
        }
    }
    let options: Vec<_> = Flag::documented()
        .flat_map(|(flag, _)| flag.spellings())
        .collect();
    format!(
        r#"# Completion of e for bash.
_e_paths() {{
    # Quoting and a slash behind folders are for paths, not for words that are named like a folder.
    compopt -o filenames 2>/dev/null
    COMPREPLY=()
    local path
    while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2")
}}
_e() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    case $prev in
{cases}    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "{options}" -- "$cur"))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{commands}" -- "$cur"))
    fi
}}
complete -F _e e
"#,
        options = options.join(" "),
        commands = command_names(),
    )
}

fn bash_offer(offer: Offer) -> String {
    match offer {
        Offer::Nothing => "return".into(),
        Offer::Files => r#"_e_paths -f "$cur"; return"#.into(),
        Offer::Folders => r#"_e_paths -d "$cur"; return"#.into(),
        Offer::Topics => bash_words(&docs::topics().join(" ")),
        Offer::Parts => bash_words("check trace"),
    }
}

fn bash_words(words: &str) -> String {
    format!(r#"COMPREPLY=($(compgen -W "{words}" -- "$cur")); return"#)
}

/// For zsh.
pub fn zsh() -> String {
    let mut options = String::new();
    for (flag, help) in Flag::documented() {
        let value = flag.value.map_or(String::new(), |value| {
            let action = if for_value(value) == Offer::Files {
                "_files"
            } else {
                ""
            };
            format!(":{value}:{action}")
        });
        for spelling in flag.spellings() {
            let _ = writeln!(
                options,
                "        '*{spelling}[{}]{value}' \\",
                zsh_quote(help)
            );
        }
    }
    let mut commands = String::new();
    let mut operands = String::new();
    for command in COMMANDS {
        let _ = writeln!(
            commands,
            "        '{}:{}'",
            command.name,
            zsh_quote(command.help)
        );
        let action = match for_command(command.id) {
            Offer::Nothing => continue,
            Offer::Files => "_files".into(),
            Offer::Folders => "_files -/".into(),
            Offer::Topics => format!("compadd {}", docs::topics().join(" ")),
            Offer::Parts => "if ((CURRENT == 3)); then compadd check trace; else _files; fi".into(),
        };
        let _ = writeln!(operands, "            {}) {action} ;;", command.name);
    }
    format!(
        r#"#compdef e
# Completion of e for zsh.
_e() {{
    local state line
    local -a commands=(
{commands}    )
    _arguments \
{options}        '1: :->command' \
        '*: :->operand'
    case $state in
        command) _describe command commands ;;
        operand)
            case $line[1] in
{operands}            esac
            ;;
    esac
}}
if [ "$funcstack[1]" = _e ]; then _e "$@"; else compdef _e e; fi
"#
    )
}

/// Text inside a single-quoted description of `_arguments` or `_describe`.
fn zsh_quote(text: &str) -> String {
    let text = text.replace('\'', "'\\''");
    ['[', ']', ':'].iter().fold(text, |text, special| {
        text.replace(*special, &format!("\\{special}"))
    })
}

/// For fish.
pub fn fish() -> String {
    let mut script = String::from("# Completion of e for fish.\ncomplete -c e -f\n");
    for (flag, help) in Flag::documented() {
        let mut line = format!("complete -c e -l {}", flag.long);
        if let Some(alias) = flag.alias {
            let _ = write!(line, " -l {alias}");
        }
        if let Some(letter) = flag.short {
            let _ = write!(line, " -s {letter}");
        }
        if let Some(value) = flag.value {
            line.push_str(if for_value(value) == Offer::Files {
                " -r -F"
            } else {
                " -x"
            });
        }
        let _ = writeln!(script, "{line} -d '{}'", fish_quote(help));
    }
    for command in COMMANDS {
        let _ = writeln!(
            script,
            "complete -c e -n __fish_use_subcommand -a {} -d '{}'",
            command.name,
            fish_quote(command.help)
        );
        let action = match for_command(command.id) {
            Offer::Nothing => continue,
            Offer::Files => "-F".into(),
            Offer::Folders => "-a '(__fish_complete_directories)'".into(),
            Offer::Topics => format!("-a '{}'", docs::topics().join(" ")),
            Offer::Parts => "-a 'check trace' -F".into(),
        };
        let _ = writeln!(
            script,
            "complete -c e -n '__fish_seen_subcommand_from {}' {action}",
            command.name
        );
    }
    script
}

fn fish_quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}
