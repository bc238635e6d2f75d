// The client of opencode's SDK, as far as it makes sense without its server. What it knows is asked of haft. What is about
// files is done here, with the functions that the plugin has itself: so it reaches as far as they do, and no further.
import { internal, log, request } from "haft:ops";

const { assign } = Object;

const HERE = {
  "app.log": logged,
  "file.list": (options, given) => internal("host/files").list(options, given.directory),
  "file.read": (options, given) => internal("host/files").read(options, given.directory),
  "find.files": (options, given) => internal("host/files").findFiles(options, given.directory),
  "find.text": (options, given) => internal("host/files").findText(options, given.directory),
  "tui.showToast": shown,
};

/** A client for a plugin that was given this. */
export function clientOf(given) {
  return below([], given);
}

function below(path, given) {
  return new Proxy(() => {}, {
    get(_, name) {
      // Whoever awaits the client must not find a promise.
      if (typeof name !== "string" || name === "then" || name === "toJSON") return undefined;
      return below([...path, name], given);
    },
    apply: (_, __, args) => call(path.join("."), args, given),
  });
}

/** Answers as the SDK does: with `data` or with `error`, which is thrown where that is wanted. */
async function call(name, args, given) {
  const here = Object.hasOwn(HERE, name) ? HERE[name] : null;
  const answer = here ? await told(() => here(args[0], given)) : await request("client", { path: name, args });
  if (answer?.error === undefined) return { data: answer?.data, error: undefined };
  if (args[0]?.throwOnError === true || args[1]?.throwOnError === true) {
    throw assign(new Error(answer.error.data.message), answer.error);
  }
  return { data: undefined, error: answer.error };
}

async function told(work) {
  try {
    return { data: await work() };
  } catch (error) {
    return { error: { name: error?.code === "ENOENT" ? "NotFoundError" : "BadRequest", data: { message: `${error?.message ?? error}` } } };
  }
}

async function logged(options) {
  const body = options?.body ?? options ?? {};
  const extra = body.extra === undefined ? "" : ` ${JSON.stringify(body.extra)}`;
  const service = body.service === undefined ? "" : `${body.service}: `;
  log(`${body.level ?? "info"}`, `${service}${body.message ?? ""}${extra}`);
  return true;
}

/** What a person is meant to see is a line of the log, and bounded with it. */
async function shown(options) {
  const { title, message } = options?.body ?? options ?? {};
  log("notice", `${title ?? ""} ${message ?? ""}`.trim());
  return true;
}
