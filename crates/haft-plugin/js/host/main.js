// The host inside QuickJS. Rust holds the protocol and calls these five functions; what they return or throw it turns into
// answers. What is kept here is kept in objects without a prototype, which a plugin cannot reach.
import { importFile, internal, metadata, request, requestSync, resolve } from "haft:ops";
import { argumentsOf, hookNames, pluginsOf, resultOf, runHooks, toolsOf, wordsFor } from "./contract.js";

const { create, defineProperty } = Object;

const tools = create(null);
const running = create(null);
let hooks = [];

/** Looks through the exports of a file that was evaluated. */
export async function load(kind, file, namespace, options, input) {
  if (kind === "module") return { tools: [], hooks: [], skipped: [] };
  let found;
  if (kind === "plugin") {
    const { pluginInput } = internal("host/input");
    found = await pluginsOf(namespace, pluginInput(input ?? {}), options);
    hooks = found.hooks;
  } else {
    found = toolsOf(namespace);
  }
  const described = [];
  const faulty = [];
  for (let i = 0; i < found.tools.length; i++) {
    const { key, definition } = found.tools[i];
    try {
      const { parameters, check, judges } = argumentsOf(definition, (schema) => zodOf(file, schema));
      described[described.length] = { key, description: textOf(definition.description), parameters, judges: judges === true };
      tools[key] = { definition, check };
    } catch (error) {
      if (error?.name === "InternalError") throw error;
      const argument = typeof error?.argument === "string" ? error.argument : undefined;
      faulty[faulty.length] = { export: key, why: `${error?.message ?? error}`, argument };
    }
  }
  const names = kind === "plugin" ? hookNames(hooks) : [];
  const told = { tools: described, hooks: names, skipped: found.skipped, faulty };
  // Few plugins have these, and the code behind them is not small.
  if (!names.includes("auth") && !names.includes("provider")) return told;
  const { auth, models, skipped } = internal("host/auth").offered(hooks);
  return { ...told, auth, models, skipped: [...found.skipped, ...skipped] };
}

/** Runs a tool. */
export async function call(id, key, args, context) {
  const tool = tools[key];
  if (tool === undefined) throw new Error(`there is no tool \`${key}\` in this file`);
  const order = (running[id] = { controller: null, aborted: false });
  try {
    const checked = await tool.check(args);
    if (checked.issues) return { input: { issues: checked.issues, message: wordsFor(tool.definition, checked.error) } };
    const result = await tool.definition.execute(checked.value, contextOf(id, order, context ?? {}));
    return resultOf(result, key);
  } finally {
    delete running[id];
  }
}

/** Runs a hook of every plugin in the file. */
export async function hook(id, name, input, output) {
  return runHooks(hooks, name, input, output);
}

/** Does one step of a hook that is an object: `auth` or `provider`. */
export async function part(id, name, given) {
  const order = (running[id] = { controller: null, aborted: false });
  try {
    return await internal("host/auth").step(hooks, name, given, (object, key) => signalled(object, key, order));
  } finally {
    delete running[id];
  }
}

/** Fires the signal of a call. */
export function abort(id) {
  const order = running[id];
  if (order === undefined) return;
  order.aborted = true;
  if (order.controller !== null) order.controller.abort();
}

function contextOf(id, order, given) {
  const context = {
    sessionID: given.sessionID,
    messageID: given.messageID,
    agent: given.agent,
    callID: given.callID,
    directory: given.directory,
    worktree: given.worktree,
    extra: given.extra ?? {},
    metadata(update) {
      metadata(id, { title: update?.title, metadata: update?.metadata });
    },
    async ask(question) {
      await request("permission", question, id);
    },
  };
  // Most tools never look at what was said, which may be much. So it is asked for when it is: on the spot, because it is a
  // property and no promise. To look for its name in the code instead would miss those who hand their context on.
  let messages;
  defineProperty(context, "messages", {
    enumerable: true,
    configurable: true,
    get: () => (messages ??= requestSync("messages", null, id)),
    set: (value) => (messages = value),
  });
  signalled(context, "abort", order);
  return context;
}

/** Gives an object the signal of an order. Few look at it, and the code behind it is not small. */
function signalled(object, key, order) {
  defineProperty(object, key, {
    enumerable: true,
    configurable: true,
    get() {
      if (order.controller === null) {
        const { AbortController } = internal("web/abort");
        order.controller = new AbortController();
        if (order.aborted) order.controller.abort();
      }
      return order.controller.signal;
    },
  });
}

/** The copy of zod that a schema comes from: of the file's packages where they are installed, and ours otherwise. */
function zodOf(file, schema) {
  const plugin = installed("@opencode-ai/plugin", file);
  const zod = installed("zod", file);
  const ours = plugin === undefined || zod === undefined ? internal("zod/index") : null;
  if (ours !== null && schema instanceof ours.ZodType) return ours;
  if (plugin?.tool?.schema?.toJSONSchema) return plugin.tool.schema;
  return zod?.z ?? zod ?? ours;
}

function installed(name, file) {
  const found = resolve(name, file, "import");
  return found.kind === "file" ? importFile(found.path) : undefined;
}

function textOf(description) {
  return typeof description === "string" ? description : description === undefined || description === null ? "" : `${description}`;
}
