//! Opens the address in a browser, or explains how to reach it.

use std::process::{Command, Stdio};

/// Starts the user's browser. Returns whether one was found.
pub fn open(url: &str) -> bool {
    let commands: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["rundll32", "url.dll,FileProtocolHandler"]]
    } else {
        // Without a display they would start a browser in the terminal.
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
        if has_display {
            &[&["xdg-open"], &["wslview"], &["gio", "open"]]
        } else {
            &[]
        }
    };
    commands.iter().any(|command| {
        let Some((program, arguments)) = command.split_first() else {
            return false;
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(url);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return false;
        };
        // It may run as long as the browser; its exit status must be collected.
        std::thread::spawn(move || child.wait());
        true
    })
}

/// The command that forwards a port of this machine to the user's, if this is an SSH session.
pub fn ssh_line(port: u16) -> Option<String> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    let user = std::env::var("USER").ok();
    line_of(&connection, user.as_deref(), port)
}

/// `SSH_CONNECTION` contains address and port of the client, then those of the server.
fn line_of(connection: &str, user: Option<&str>, port: u16) -> Option<String> {
    let server = connection.split_whitespace().nth(2)?;
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".:_-%".contains(&byte))
    };
    let user = user.filter(|user| !user.is_empty() && is_plain(user) && !user.starts_with('-'));
    let user = user.map_or_else(String::new, |user| format!("{user}@"));
    is_plain(server).then(|| format!("ssh -N -L {port}:127.0.0.1:{port} {user}{server}"))
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn the_line_for_ssh() {
        let line = line_of("192.0.2.7 50000 198.51.100.3 22", Some("me"), 4711);
        assert_eq!(
            line.as_deref(),
            Some("ssh -N -L 4711:127.0.0.1:4711 me@198.51.100.3")
        );
        let line = line_of("2001:db8::1 50000 2001:db8::2 22", None, 80);
        assert_eq!(
            line.as_deref(),
            Some("ssh -N -L 80:127.0.0.1:80 2001:db8::2")
        );
        assert_eq!(line_of("", Some("me"), 80), None);
        assert_eq!(line_of("a 1 $(evil) 2", Some("me"), 80), None);
    }
}
