//! A server that says what it is told to, and what came of asking it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use haft::{AgentId, Content};
use haft_agent::provider::{
    Delta, Headers, ModelInfo, Options, Prompt, Provider, ProviderError, Told, Utterance,
};
use haft_agent::wire::{Endpoint, Format, Key, Wire};
use serde_json::Value;

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";
pub(crate) const FORMATS: [Format; 4] = [Format::Chat, Format::Responses, Format::Anthropic, Format::Gemini];

/// What a server answers to one request.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

/// What follows the body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end of the answer, as HTTP has it.
    Proper,
    /// The connection is cut.
    Cut,
    /// Nothing, for as long as the client stays.
    Stall,
    /// The same again and again, until the client has enough.
    Repeat,
}

impl Reply {
    /// A stream of events.
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Reply {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Reply { status: 200, headers, body: body.into(), end: End::Proper }
    }

    /// A document.
    pub(crate) fn json(status: u16, body: &Value) -> Reply {
        let headers = vec![("content-type", "application/json".to_owned())];
        Reply { status, headers, body: body.to_string().into_bytes(), end: End::Proper }
    }

    pub(crate) fn ending(self, end: End) -> Reply {
        Reply { end, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Reply {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// Which connection it came on.
    pub(crate) connection: usize,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A server that gives its replies in order.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: mpsc::Receiver<Request>,
}

impl Server {
    pub(crate) fn new(replies: Vec<Reply>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (told, requests) = mpsc::channel();
        let replies = Arc::new(Mutex::new(replies.into_iter()));
        std::thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                let (told, replies) = (told.clone(), replies.clone());
                std::thread::spawn(move || {
                    // A client that leaves is part of some tests.
                    let _left = serve(stream.unwrap(), connection, &told, || replies.lock().unwrap().next());
                });
            }
        });
        Server { address, requests }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn request(&self) -> Request {
        self.requests.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    pub(crate) fn endpoint(&self, format: Format) -> Endpoint {
        Endpoint {
            provider: "acme".to_owned(),
            format,
            base_url: self.base_url(),
            key: Key::new(KEY),
            headers: Vec::new(),
            idle: Some(Duration::from_millis(400)),
            output_max: 4096,
            carrier: None,
        }
    }

    pub(crate) fn wire(&self, format: Format) -> Wire {
        let mut endpoint = self.endpoint(format);
        endpoint.idle = Some(Duration::from_secs(30));
        Wire::new(endpoint)
    }
}

fn serve(
    stream: TcpStream,
    connection: usize,
    told: &mpsc::Sender<Request>,
    next: impl Fn() -> Option<Reply>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
        reader.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let line = line.trim().trim_end_matches(" HTTP/1.1").to_owned();
        let _unheard = told.send(Request { line, headers, body, connection });
        let Some(reply) = next() else { return Ok(()) };
        answer(&mut writer, &reply)?;
        match reply.end {
            End::Proper => {}
            End::Cut => return writer.shutdown(std::net::Shutdown::Both),
            // Until the client hangs up.
            End::Stall => return reader.read_line(&mut String::new()).map(drop),
            End::Repeat => loop {
                chunk(&mut writer, &reply.body)?;
            },
        }
    }
}

fn answer(writer: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    write!(writer, "HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", reply.status)?;
    for (name, value) in &reply.headers {
        write!(writer, "{name}: {value}\r\n")?;
    }
    writer.write_all(b"\r\n")?;
    // In pieces of an awkward size, which cut characters and lines.
    let size = if reply.body.len() > 100_000 { 65_536 } else { 7 };
    for piece in reply.body.chunks(size) {
        chunk(writer, piece)?;
    }
    match reply.end {
        End::Proper => writer.write_all(b"0\r\n\r\n"),
        End::Cut | End::Stall | End::Repeat => Ok(()),
    }
}

fn chunk(writer: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    write!(writer, "{:x}\r\n", bytes.len())?;
    writer.write_all(bytes)?;
    writer.write_all(b"\r\n")
}

/// A stream of events, each a JSON document on one line.
pub(crate) fn events(documents: &[Value]) -> String {
    let one = |document: &Value| match document["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {document}\n\n"),
        None => format!("data: {document}\n\n"),
    };
    documents.iter().map(one).collect()
}

pub(crate) fn prompt(conversation: Vec<Utterance>) -> Prompt {
    Prompt {
        model: "m-1".to_owned(),
        agent: AgentId::parse("build").unwrap(),
        system: vec!["Be brief.".to_owned()],
        conversation: conversation.into_iter().map(|said| Arc::new(Told::new(said))).collect(),
        tools: Vec::new(),
        options: Options::default(),
        headers: Headers::default(),
    }
}

pub(crate) fn hello() -> Prompt {
    prompt(vec![Utterance::User(vec![Content::Text("hello".to_owned())])])
}

/// Asks and listens to the end.
pub(crate) async fn hear(wire: &Wire, prompt: &Prompt) -> (Vec<Delta>, Option<ProviderError>) {
    let mut answer = match wire.answer(prompt).await {
        Ok(answer) => answer,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut deltas = Vec::new();
    while let Some(delta) = answer.next().await {
        match delta {
            Ok(delta) => deltas.push(delta),
            Err(error) => {
                assert!(answer.next().await.is_none(), "something follows an error");
                return (deltas, Some(error));
            }
        }
    }
    (deltas, None)
}

/// What a stream in a format says, one delta a line. The key is in none of it.
pub(crate) async fn said(format: Format, reply: Reply) -> String {
    let server = Server::new(vec![reply]);
    let (deltas, error) = hear(&server.wire(format), &hello()).await;
    told(&deltas, error.as_ref())
}

/// Deltas and the error after them, one a line; texts and thoughts joined.
pub(crate) fn told(deltas: &[Delta], error: Option<&ProviderError>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut joined: Option<(&str, String)> = None;
    let flush = |joined: &mut Option<(&str, String)>, lines: &mut Vec<String>| {
        lines.extend(joined.take().map(|(kind, text)| format!("{kind} {text:?}")));
    };
    for delta in deltas {
        let (kind, text) = match delta {
            Delta::Text(text) => ("text", text),
            Delta::Reasoning(text) => ("thought", text),
            other => {
                flush(&mut joined, &mut lines);
                lines.push(match other {
                    Delta::Call(call) => {
                        let opaque =
                            call.opaque.as_ref().map(|opaque| format!(" {opaque}")).unwrap_or_default();
                        let cut = if call.is_cut { " cut" } else { "" };
                        format!("call {} {} {}{opaque}{cut}", call.id, call.name, call.arguments)
                    }
                    Delta::ReasoningEnd(opaque) => {
                        format!("thought ends {}", opaque.as_ref().map(Value::to_string).unwrap_or_default())
                    }
                    Delta::Calling { name } => format!("calling {name}"),
                    Delta::Usage(usage) => format!(
                        "usage in {} out {} thoughts {} cache {}/{}",
                        usage.input, usage.output, usage.reasoning, usage.cache_read, usage.cache_write
                    ),
                    Delta::Finished(finish) => format!("finished {finish:?}"),
                    Delta::Text(_) | Delta::Reasoning(_) => unreachable!(),
                });
                continue;
            }
        };
        match &mut joined {
            Some((own, said)) if *own == kind => said.push_str(text),
            _ => {
                flush(&mut joined, &mut lines);
                joined = Some((kind, text.clone()));
            }
        }
    }
    flush(&mut joined, &mut lines);
    if let Some(error) = error {
        let shown = format!("{error:?} {error}");
        assert!(!shown.contains(KEY), "the key is shown");
        lines.push(format!("error: {error}"));
    }
    lines.join("\n")
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn ids(models: &[ModelInfo]) -> Vec<&str> {
    models.iter().map(|model| model.id.as_str()).collect()
}
