// `finished` and `pipeline`: the end of a stream, and of a row of them.
import { coded, invalidType } from "haft:node/parts/errors";
import { Duplex, PassThrough } from "haft:node/parts/duplex";
import { Readable } from "haft:node/parts/readable";
import { soon } from "haft:node/parts/stream-base";

const premature = () => coded(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close");

export function finished(stream, options, callback) {
  if (typeof options === "function") [callback, options] = [options, {}];
  const {
    readable = Boolean(stream._readableState),
    writable = Boolean(stream._writableState),
    signal,
  } = options ?? {};
  let settled = false;
  const settle = (error) => {
    if (settled) return;
    settled = true;
    undo();
    callback.call(stream, error);
  };
  const over = () =>
    (!readable || stream._readableState?.endEmitted) && (!writable || stream._writableState?.finished);
  const check = () => over() && settle();
  const close = () => settle(stream.errored ?? (over() ? undefined : premature()));
  const listeners = { end: check, finish: check, error: settle, close };
  const undo = () => {
    for (const event in listeners) stream.removeListener(event, listeners[event]);
  };
  for (const event in listeners) stream.on(event, listeners[event]);
  signal?.addEventListener(
    "abort",
    () =>
      settle(
        coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason }),
      ),
    { once: true },
  );
  if (stream.closed || over()) soon(close);
  return undo;
}

const isStream = (value) => typeof value?.pipe === "function" || typeof value?.write === "function";

// Generators and iterables become streams; a function gets what comes before it as an iterable.
function streamsOf(stages, signal) {
  const streams = [];
  for (const [i, stage] of stages.entries()) {
    if (isStream(stage)) streams.push(stage);
    else if (typeof stage === "function") {
      const made = i === 0 ? stage({ signal }) : stage(streams.pop(), { signal });
      if (typeof made?.[Symbol.asyncIterator] === "function" || typeof made?.[Symbol.iterator] === "function")
        streams.push(Readable.from(made));
      else streams.push(resultStream(made));
    } else if (stage?.getWriter || stage?.getReader)
      streams.push(stage.getWriter ? Duplex.fromWeb?.(stage) : Readable.fromWeb(stage));
    else if (
      typeof stage?.[Symbol.asyncIterator] === "function" ||
      typeof stage?.[Symbol.iterator] === "function"
    )
      streams.push(Readable.from(stage));
    else throw invalidType(`streams[${i}]`, "a stream, an iterable or a function", stage);
  }
  return streams;
}

// The last stage was an async function: its promise is the end of the row.
function resultStream(promise) {
  const out = new PassThrough({ objectMode: true });
  out.resultOf = Promise.resolve(promise).then((value) => {
    out.end();
    out.resume();
    return value;
  });
  out.resultOf.catch((error) => out.destroy(error));
  return out;
}

export function pipeline(...stages) {
  const callback = stages.pop();
  if (typeof callback !== "function")
    throw invalidType("streams[stream.length - 1]", "of type function", callback);
  const flat = stages.flat();
  const options =
    flat.length && !isStream(flat.at(-1)) && typeof flat.at(-1) === "object" && "signal" in flat.at(-1)
      ? flat.pop()
      : {};
  const streams = streamsOf(flat, options.signal);
  let open = streams.length;
  let failure;
  const stop = (error) => {
    failure ??= error;
    for (const stream of streams) if (!stream.destroyed) stream.once("error", () => {}).destroy(error);
  };
  options.signal?.addEventListener("abort", () =>
    stop(
      coded(Error, "ABORT_ERR", "The operation was aborted", {
        name: "AbortError",
        cause: options.signal.reason,
      }),
    ),
  );
  for (const [i, stream] of streams.entries()) {
    const last = i === streams.length - 1;
    finished(
      stream,
      {
        readable: !last && Boolean(stream._readableState),
        writable: i > 0 && Boolean(stream._writableState),
      },
      async (error) => {
        if (error) stop(error);
        open -= 1;
        if (open) return;
        const value = failure ? undefined : await streams.at(-1).resultOf;
        callback(failure, value);
      },
    );
    if (!last) stream.pipe(streams[i + 1]);
  }
  return streams.at(-1);
}
