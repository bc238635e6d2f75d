//! What hosts of plugins are given: a process in the sandbox, the web by rule, files that somebody agreed to.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft::{Action, BoxFuture, Event, Events, ToolContext, ToolError};
use haft_plugin::{
    Behalf, ClientCall, Desk, Engine, Fetch, FileWish, Holds, HostProgram, LaunchError, Launched, Permission,
    Said, Streamed, Unanswered, Wish,
};
use haft_tools::hosting::{Fetching, FileDone, FileOp, FileProblem, Held, HostStart, Hosting, HostingError};
use serde_json::{Value, json};

use super::credentials::Unrenewed;
use super::streams::Streams;
use super::{Answering, host_program};
use crate::config::GUARDED;
use crate::terminal::Terminal;

/// The function of the client that depends on who calls it.
const RENEWING: &str = "auth.set";
/// How much memory the code of a plugin may use unless it is configured.
const MEMORY_BYTES: u64 = 256 << 20;

/// Starts hosts and answers what they ask.
pub(crate) struct CliDesk {
    hosting: Hosting,
    terminal: Terminal,
    events: Events,
    answering: Answering,
    streams: Streams,
    memory_bytes: u64,
}

impl CliDesk {
    pub(crate) fn new(
        hosting: Hosting,
        terminal: Terminal,
        events: Events,
        answering: Answering,
        memory_bytes: Option<u64>,
    ) -> CliDesk {
        let memory_bytes = memory_bytes.unwrap_or(MEMORY_BYTES);
        CliDesk { hosting, terminal, events, answering, streams: Streams::default(), memory_bytes }
    }

    fn start(&self, program: &HostProgram) -> Result<HostStart, LaunchError> {
        let absent = || LaunchError::Absent(program.engine);
        let lost = |error: std::io::Error| LaunchError::Start(error.to_string());
        let mut readable = program.readable.clone();
        let (binary, args): (PathBuf, Vec<OsString>) = match program.engine {
            Engine::Embedded => {
                let beside = host_program::beside(self.hosting.are_programs_beside_writable());
                let own = beside.or_else(|_| std::env::current_exe()).map_err(lost)?;
                let roots = self.hosting.roots();
                let roots = if roots.is_empty() { roots } else { [roots, readable.clone()].concat() };
                let mut args = vec![haft_plugin::HOST_COMMAND.into(), self.memory_bytes.to_string().into()];
                args.extend(roots.into_iter().map(PathBuf::into_os_string));
                (own, args)
            }
            Engine::Bun => {
                let bun = self.hosting.on_path("bun").ok_or_else(absent)?;
                haft_plugin::host_command(&real(&bun, &mut readable), &["--no-install"])
            }
            Engine::Node => {
                let heap = format!("--max-old-space-size={}", self.memory_bytes >> 20);
                let node = self.hosting.on_path("node").ok_or_else(absent)?;
                haft_plugin::host_command(&real(&node, &mut readable), &[&heap, "--input-type=module"])
            }
        };
        readable.push(binary.clone());
        Ok(HostStart { program: binary, args, env: Vec::new(), readable })
    }

    async fn fetch(
        &self,
        wanted: Fetch,
        file: &Path,
        carries: Option<String>,
        context: &ToolContext,
    ) -> Result<Value, Unanswered> {
        let body = match &wanted.body {
            Some(body) => STANDARD.decode(body).map_err(|_| Unanswered::failed("the body is no base64"))?,
            None => Vec::new(),
        };
        // What a model says is handed on as it comes.
        let streams = carries.is_some();
        let redirect = wanted.redirect.as_deref().unwrap_or("follow");
        let fetching = Fetching {
            url: wanted.url,
            method: wanted.method.unwrap_or_else(|| "GET".to_owned()),
            headers: wanted.headers,
            body,
            follows: redirect == "follow",
            carries,
        };
        let fetched = self.hosting.fetch(&fetching, context).await.map_err(unfetched)?;
        if redirect == "error" && (300..400).contains(&fetched.status) {
            return Err(Unanswered::Failed {
                name: "TypeError",
                message: "it redirects".to_owned(),
                code: None,
            });
        }
        let mut told = json!({
            "status": fetched.status,
            "statusText": fetched.reason,
            "url": fetched.url,
            "redirected": fetched.redirected,
            "headers": fetched.headers,
        });
        match streams {
            true => told["stream"] = self.streams.keep(file, fetched.arriving).into(),
            false => {
                told["body"] = STANDARD.encode(fetched.arriving.whole().await.map_err(unfetched)?).into()
            }
        }
        Ok(told)
    }

    async fn file(&self, wanted: FileWish, context: &ToolContext) -> Result<Value, Unanswered> {
        let data = match &wanted.data {
            Some(data) => {
                STANDARD.decode(data).map_err(|_| Unanswered::failed("the content is no base64"))?
            }
            None => Vec::new(),
        };
        let op = match wanted.op.as_str() {
            "readFile" => FileOp::Read,
            "stat" if wanted.follow => FileOp::Stat,
            "readdir" => FileOp::List,
            "writeFile" => FileOp::Write { data, appends: wanted.append },
            // The kernel's own answer stands.
            other => {
                return Err(Unanswered::Failed {
                    name: "Error",
                    message: format!("{other} is not done for plugins"),
                    code: Some("ERR_UNSUPPORTED".to_owned()),
                });
            }
        };
        let done = self.hosting.file(&wanted.path, op, context).await.map_err(|problem| match problem {
            FileProblem::Refused(ToolError::Failure(message)) => Unanswered::Failed {
                name: "Error",
                message: format!("EACCES: {message}"),
                code: Some("EACCES".to_owned()),
            },
            FileProblem::Refused(error) => Unanswered::Consent(error),
            FileProblem::System(error) => {
                let code = match error.kind() {
                    std::io::ErrorKind::NotFound => "ENOENT",
                    std::io::ErrorKind::IsADirectory => "EISDIR",
                    std::io::ErrorKind::NotADirectory => "ENOTDIR",
                    std::io::ErrorKind::AlreadyExists => "EEXIST",
                    _ => "EACCES",
                };
                Unanswered::Failed {
                    name: "Error",
                    message: format!("{code}: {error}"),
                    code: Some(code.to_owned()),
                }
            }
        })?;
        Ok(match done {
            FileDone::Read(bytes) => json!({ "data": STANDARD.encode(bytes) }),
            FileDone::Stat(found) => {
                let ms = |seconds: i64, nanos: i64| seconds as f64 * 1e3 + nanos as f64 / 1e6;
                json!({
                    "kind": kind(rustix::fs::FileType::from_raw_mode(found.mode())), "size": found.len(), "mode": found.mode(), "ino": found.ino(),
                    "dev": found.dev(), "nlink": found.nlink(), "uid": found.uid(), "gid": found.gid(),
                    "atimeMs": ms(found.atime(), found.atime_nsec()), "mtimeMs": ms(found.mtime(), found.mtime_nsec()),
                    "ctimeMs": ms(found.ctime(), found.ctime_nsec()), "birthtimeMs": ms(found.ctime(), found.ctime_nsec()),
                })
            }
            FileDone::List(names) => {
                let entry =
                    |(name, is): (String, rustix::fs::FileType)| json!({ "name": name, "kind": kind(is) });
                json!(names.into_iter().map(entry).collect::<Vec<Value>>())
            }
            FileDone::Done => Value::Null,
        })
    }

    async fn permission(&self, asked: Permission, context: &ToolContext) -> Result<Value, Unanswered> {
        if GUARDED.contains(&asked.permission.as_str()) {
            let message = format!("{} is asked about by haft itself, when it is needed", asked.permission);
            return Err(Unanswered::failed(message));
        }
        let _agreed = self.hosting.gate.grant(context, Asked(asked)).await?;
        Ok(Value::Null)
    }

    /// Stores what a login has become, which is what loaders ask for when a token has expired.
    fn renew(&self, call: &ClientCall, file: &Path) -> Result<Value, Unanswered> {
        match self.answering.credentials.renew(call, file) {
            Ok(()) => Ok(json!({ "data": true })),
            Err(error @ Unrenewed::Store(_)) => Err(Unanswered::failed(haft::causes(&error))),
            Err(error) => Err(Unanswered::failed(error.to_string())),
        }
    }

    fn log(&self, level: &str, text: &str) {
        let is_told = match level {
            "error" | "warn" | "notice" => true,
            _ => self.terminal.verbose,
        };
        if is_told {
            let lines = haft::visible_lines(&self.answering.credentials.hide(text));
            // Each says whose it is: none is taken for haft's own.
            lines.lines().for_each(|line| self.terminal.note(&format!("plugin: {line}")));
        }
    }

    /// What was got through a file, for that file.
    fn credential(&self, provider: &str, file: &Path) -> Result<Value, Unanswered> {
        let found = self.answering.credentials.of(provider, file);
        let found = found.map_err(|error| Unanswered::failed(haft::causes(&error)))?;
        Ok(found.map(|credential| credential.reveal()).unwrap_or_default())
    }
}

/// A host, held as plugins know it.
struct HeldHost {
    held: Held,
    /// Who is told what was taken away meanwhile.
    terminal: Terminal,
}

impl Holds for HeldHost {
    fn end(self: Box<Self>) -> Option<String> {
        let said = match self.held.end() {
            Ok(said) => said,
            Err(error) => return Some(error.to_string()),
        };
        for line in said {
            let warning = self.terminal.err().yellow("warning:");
            self.terminal.say(&format!("{warning} {}", haft::visible(&line)));
        }
        None
    }
}

/// A failure of the web, as `fetch` has it.
fn unfetched(error: ToolError) -> Unanswered {
    match error {
        ToolError::Failure(message) => Unanswered::Failed { name: "TypeError", message, code: None },
        other => Unanswered::Consent(other),
    }
}

/// A runtime where it really is, which is then readable: what is on the path is often a link into somebody's home.
fn real(runtime: &std::path::Path, readable: &mut Vec<PathBuf>) -> PathBuf {
    let real = match runtime.canonicalize() {
        // One by another name goes by the name it is called by, as the links of version managers do.
        Ok(real) if real.file_stem() == runtime.file_stem() => real,
        Ok(_) | Err(_) => runtime.to_owned(),
    };
    readable.push(real.clone());
    real
}

fn kind(is: rustix::fs::FileType) -> &'static str {
    match is {
        rustix::fs::FileType::RegularFile => "file",
        rustix::fs::FileType::Directory => "dir",
        rustix::fs::FileType::Symlink => "symlink",
        _ => "other",
    }
}

/// What a tool asks of its own accord.
struct Asked(Permission);

impl Ask for Asked {
    fn questions(&self) -> Vec<Question> {
        let Permission { permission, patterns, always, .. } = &self.0;
        let everything = ["*".to_owned()];
        let patterns: &[String] = if patterns.is_empty() { &everything } else { patterns };
        vec![Question {
            action: Action::new(permission),
            resources: patterns.iter().map(Resource::new).collect(),
            // Leaving the workspace is agreed to for what was asked, whatever the plugin would have saved.
            save: match permission.as_str() {
                "external_directory" => patterns.to_vec(),
                _ => always.clone(),
            },
        }]
    }

    fn reach(&self) -> Reach {
        // The call is on record since it was itself agreed to.
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title = format!("a plugin asks: {} {}", self.0.permission, self.0.patterns.join(", "));
        let detail = match self.0.metadata.is_empty() {
            true => String::new(),
            false => serde_json::to_string_pretty(&self.0.metadata).unwrap_or_default(),
        };
        Showing { title: haft::visible(&title), detail: haft::visible_lines(&detail) }
    }
}

impl Desk for CliDesk {
    fn launch(&self, program: &HostProgram) -> Result<Launched, LaunchError> {
        let start = self.start(program)?;
        let hosted = self.hosting.start(start).map_err(|error| match error {
            HostingError::Unconfined(why) => LaunchError::Unconfined(format!(
                "nothing on this machine would confine its code ({why}); `\"sandbox\": \"off\"` in your own haft.jsonc lets it run without"
            )),
            other @ (HostingError::Sandbox(_) | HostingError::Start(_)) => {
                LaunchError::Start(format!("{:#}", anyhow::Error::new(other)))
            }
        })?;
        Ok(Launched {
            input: hosted.input.into(),
            output: hosted.output.into(),
            words: Box::new(hosted.words),
            holds: Box::new(HeldHost { held: hosted.held, terminal: self.terminal }),
        })
    }

    fn answer<'a>(&'a self, wish: Wish, behalf: Behalf) -> BoxFuture<'a, Result<Value, Unanswered>> {
        Box::pin(async move {
            let Behalf { file, context, carries } = behalf;
            let needed = || {
                context.as_ref().ok_or_else(|| {
                    let message = "this is only possible while a tool or a hook of a call runs";
                    Unanswered::Failed {
                        name: "Error",
                        message: message.to_owned(),
                        code: Some("EACCES".to_owned()),
                    }
                })
            };
            match wish {
                Wish::Fetch(wanted) => self.fetch(wanted, &file, carries, needed()?).await,
                Wish::File(wanted) => self.file(wanted, needed()?).await,
                Wish::Permission(asked) => self.permission(asked, needed()?).await,
                Wish::Client(call) if call.path == RENEWING => self.renew(&call, &file),
                Wish::Client(call) => self.answering.client.answer(&call).await,
                Wish::Messages => self.answering.client.messages(&needed()?.session).await,
                Wish::Read(Streamed { stream }) => {
                    match self.streams.next(&file, stream).await.map_err(unfetched)? {
                        Some(bytes) => Ok(STANDARD.encode(bytes).into()),
                        None => Ok(Value::Null),
                    }
                }
                Wish::Drop(Streamed { stream }) => {
                    self.streams.forget(&file, stream);
                    Ok(Value::Null)
                }
                Wish::Auth(wanted) => self.credential(&wanted.provider, &file),
                // The first two are not asked of anybody outside.
                Wish::Strip(_) | Wish::Module(_) | Wish::Unknown => {
                    Err(Unanswered::failed("haft does not know this request"))
                }
            }
        })
    }

    fn heard(&self, said: Said, context: Option<ToolContext>) {
        match (said, context) {
            (Said::Log { level, text }, _) => self.log(&level, &text),
            (Said::Metadata { title, metadata, .. }, Some(context)) => {
                let body = json!({ "title": title, "metadata": metadata });
                self.events.tell(|| Event::Reported { name: "call.metadata", context, body });
            }
            // The call has ended.
            (Said::Metadata { .. }, None) => {}
        }
    }
}
