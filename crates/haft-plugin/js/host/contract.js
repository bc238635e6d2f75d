// What tools and plugins are, apart from the engine that runs them: which exports count, what their arguments look like to a
// model, how arguments are checked, what may be returned. The hosts for QuickJS and for Node and Bun share this file, so it
// imports nothing. It loops by index and keeps to functions taken here, before a plugin could replace them.

const { stringify, parse } = JSON;
const { assign, keys, create } = Object;
const { isArray } = Array;

/** Finds the tools among the exports of a file. */
export function toolsOf(namespace) {
  const found = { tools: [], skipped: [] };
  const whole = namespace.default;
  const names = keys(namespace);
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const value = namespace[name];
    if (isTool(value)) add(found.tools, { key: name, definition: value });
    else if (!isPartOf(whole, name, value)) add(found.skipped, { export: name, why: whyNoTool(value) });
  }
  return found;
}

/** Starts the plugins of a file, in order, and keeps what they return. */
export async function pluginsOf(namespace, input, options) {
  const found = { tools: [], hooks: [], skipped: [] };
  const starts = startsOf(namespace, found.skipped);
  for (let i = 0; i < starts.length; i++) {
    const hooks = await starts[i].start(input, options);
    if (hooks === undefined || hooks === null) continue;
    if (typeof hooks !== "object") {
      const words = `the plugin \`${starts[i].name}\` returned ${kindOf(hooks)}; it must return an object of hooks`;
      throw assign(new TypeError(words), { export: starts[i].export });
    }
    add(found.hooks, hooks);
    const tools = hooks.tool;
    if (tools === undefined || tools === null) continue;
    const names = keys(tools);
    for (let j = 0; j < names.length; j++) {
      const name = names[j];
      if (isTool(tools[name])) add(found.tools, { key: name, definition: tools[name] });
      else add(found.skipped, { export: `tool.${name}`, why: whyNoTool(tools[name]) });
    }
  }
  return found;
}

/** The names of the hooks that a file has, each once. */
export function hookNames(hooks) {
  const seen = create(null);
  for (let i = 0; i < hooks.length; i++) {
    for (const name in hooks[i]) {
      const value = hooks[i][name];
      if (typeof value === "function" || ((name === "auth" || name === "provider") && value)) seen[name] = true;
    }
  }
  return keys(seen);
}

/** Runs a hook of every plugin in the file, one after another over one output, which they may change. */
export async function runHooks(hooks, name, input, output) {
  for (let i = 0; i < hooks.length; i++) {
    const hook = hooks[i][name];
    if (typeof hook === "function") await (output === null ? hooks[i][name](input) : hooks[i][name](input, output));
  }
  return name === "config" ? input : output;
}

/**
 * Understands the arguments of a tool: the JSON Schema a model is shown, and a function that checks what it sends. Where
 * that is the tool's own judgement, `judges` says so: haft then leaves it to the tool what to say about arguments.
 * `zod(schema)` gives the copy of zod that a schema was made with, as far as that can be told.
 */
export function argumentsOf(definition, zod) {
  const args = definition.args;
  if (args === undefined || args === null) return { parameters: objectSchema({}, []), check: unchecked };
  if (typeof args !== "object" && typeof args !== "function") throw new TypeError(`its args are ${kindOf(args)}`);
  if (isZod(args)) return byZod(args, zod(args));
  if (isStandard(args)) return byStandard(args);
  if (args.type === "object") return { parameters: plain(args), check: unchecked };
  const names = keys(args);
  let checked = 0;
  let sample = null;
  for (let i = 0; i < names.length; i++) {
    if (isZod(args[names[i]])) {
      checked++;
      sample = args[names[i]];
    } else if (isOldZod(args[names[i]])) throw wrong(names[i], "is made with zod 3; use zod 4 or tool.schema");
  }
  if (names.length === 0) return { parameters: objectSchema({}, []), check: unchecked };
  if (everyStandard(args, names)) return byStandards(args, names);
  if (checked === names.length) {
    const own = zod(sample);
    return byZod(own.object(args), own);
  }
  return { parameters: legacy(args, names, sample === null ? null : zod(sample)), check: unchecked };
}

/** What a tool returned, in the one shape that haft takes, or a sentence on why it is no result. */
export function resultOf(value, name) {
  if (typeof value === "string") return { ok: { output: value } };
  if (value === undefined || value === null) return { bad: `the tool \`${name}\` returned nothing; return a string or { output }` };
  if (typeof value === "function" || typeof value === "symbol") return { bad: `the tool \`${name}\` returned ${kindOf(value)}` };
  if (typeof value !== "object") return { ok: { output: `${value}` } };
  if (typeof value.output !== "string") return asJson(value, name);
  const ok = { output: value.output };
  const title = value.title;
  if (typeof title === "string") ok.title = title;
  const metadata = value.metadata;
  if (metadata !== undefined && metadata !== null) {
    const copy = copied(metadata);
    if (copy.error) return { bad: `the metadata of the tool \`${name}\` cannot be written as JSON: ${copy.error}` };
    if (typeof copy.value !== "object" || copy.value === null || isArray(copy.value)) {
      return { bad: `the metadata of the tool \`${name}\` must be an object` };
    }
    ok.metadata = copy.value;
  }
  const attachments = value.attachments;
  if (attachments !== undefined && attachments !== null) {
    const copy = copied(attachments);
    if (copy.error) return { bad: `the attachments of the tool \`${name}\` cannot be written as JSON: ${copy.error}` };
    if (!isArray(copy.value)) return { bad: `the attachments of the tool \`${name}\` must be an array` };
    ok.attachments = copy.value;
  }
  return { ok };
}

/** The sentence of a tool for arguments that do not fit, if it has one of its own. */
export function wordsFor(definition, error) {
  if (typeof definition.formatValidationError !== "function") return null;
  const words = definition.formatValidationError(error);
  return typeof words === "string" ? words : null;
}

function startsOf(namespace, skipped) {
  const whole = namespace.default;
  if (whole && typeof whole === "object" && typeof whole.server === "function") {
    const name = typeof whole.id === "string" ? whole.id : "default";
    return [{ name, export: "default", start: (input, options) => whole.server(input, options) }];
  }
  const starts = [];
  const names = keys(namespace);
  for (let i = 0; i < names.length; i++) {
    const value = namespace[names[i]];
    if (typeof value === "function") {
      let known = false;
      for (let j = 0; j < starts.length; j++) known ||= starts[j].start === value;
      if (!known) add(starts, { name: names[i], export: names[i], start: value });
    } else if (!isPartOf(whole, names[i], value)) {
      add(skipped, { export: names[i], why: `it is ${kindOf(value)} and no function` });
    }
  }
  return starts;
}

function isTool(value) {
  return value !== null && typeof value === "object" && typeof value.execute === "function";
}

/** CommonJS shows each export twice: by its name, and as part of the default export. */
function isPartOf(whole, name, value) {
  if (whole === null || typeof whole !== "object") return false;
  if (name !== "default") return whole[name] === value;
  const names = keys(whole);
  for (let i = 0; i < names.length; i++) if (isTool(whole[names[i]]) || typeof whole[names[i]] === "function") return true;
  return false;
}

function whyNoTool(value) {
  if (value !== null && typeof value === "object") return "it has no execute function";
  return `it is ${kindOf(value)} and no tool`;
}

function kindOf(value) {
  if (value === null) return "null";
  if (isArray(value)) return "an array";
  const kind = typeof value;
  if (kind === "undefined") return kind;
  return kind === "object" ? "an object" : `a ${kind}`;
}

function isZod(value) {
  return value !== null && typeof value === "object" && typeof value._zod === "object" && value._zod !== null;
}

function isOldZod(value) {
  return value !== null && typeof value === "object" && typeof value._def === "object" && typeof value.safeParse === "function";
}

function isStandard(value) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const standard = value["~standard"];
  return standard !== null && typeof standard === "object" && typeof standard.validate === "function";
}

function everyStandard(args, names) {
  for (let i = 0; i < names.length; i++) if (isZod(args[names[i]]) || !isStandard(args[names[i]])) return false;
  return true;
}

function byZod(schema, zod) {
  // Descriptions are kept by the copy of zod that a schema was made with; asking the schema itself reaches it.
  const metadata = { get: (node) => (typeof node.meta === "function" ? node.meta() : undefined), has: () => false, _idmap: new Map() };
  const parameters = zod.toJSONSchema(schema, { io: "input", unrepresentable: "any", metadata });
  delete parameters.$schema;
  if (parameters.type !== "object") throw new TypeError("its args must be an object");
  return {
    judges: true,
    parameters: plain(parameters),
    check: async (args) => {
      const checked = await schema.safeParseAsync(args);
      if (checked.success) return { value: checked.data };
      return { issues: issuesOf(checked.error.issues), error: checked.error };
    },
  };
}

/** The JSON Schema of a Standard Schema, if it can tell. */
function shownBy(schema) {
  const given = schema["~standard"].jsonSchema?.input?.({ target: "draft-2020-12" }) ?? schema.toJsonSchema?.();
  return given ? plain(given) : null;
}

function byStandard(schema) {
  const standard = schema["~standard"];
  return {
    judges: true,
    parameters: shownBy(schema) ?? { type: "object" },
    check: async (args) => {
      const checked = await standard.validate(args);
      return checked.issues ? { issues: issuesOf(checked.issues), error: checked } : { value: checked.value };
    },
  };
}

/** A map from names to Standard Schemas: a name is required if its schema does not take `undefined`. */
function byStandards(args, names) {
  const properties = {};
  const required = [];
  for (let i = 0; i < names.length; i++) {
    properties[names[i]] = shownBy(args[names[i]]) ?? {};
    if (args[names[i]]["~standard"].validate(undefined).issues) add(required, names[i]);
  }
  return {
    judges: true,
    parameters: objectSchema(properties, required),
    check: async (given) => {
      const value = {};
      const issues = [];
      for (let i = 0; i < names.length; i++) {
        const checked = await args[names[i]]["~standard"].validate(given?.[names[i]]);
        const found = checked.issues ? issuesOf(checked.issues) : [];
        for (let j = 0; j < found.length; j++) {
          const path = [names[i]];
          for (let k = 0; k < found[j].path.length; k++) add(path, found[j].path[k]);
          add(issues, { path, message: found[j].message });
        }
        if (!checked.issues && checked.value !== undefined) value[names[i]] = checked.value;
      }
      return issues.length ? { issues, error: { issues } } : { value };
    },
  };
}

/** A plain map from names to JSON Schemas: every name is required and nothing is checked, as opencode does. */
function legacy(args, names, zod) {
  const properties = {};
  for (let i = 0; i < names.length; i++) {
    const value = args[names[i]];
    if (zod !== null && isZod(value)) {
      properties[names[i]] = byZod(zod.object({ value }), zod).parameters.properties.value;
    } else if (value === null || typeof value !== "object") {
      throw wrong(names[i], `is ${kindOf(value)}; use tool.schema or a JSON Schema`);
    } else {
      const copy = copied(value);
      if (copy.error) throw wrong(names[i], `cannot be written as JSON: ${copy.error}`);
      properties[names[i]] = copy.value;
    }
  }
  return objectSchema(properties, names);
}

/** What is wrong with an argument of a tool, which haft finds in the file by its name. */
function wrong(argument, words) {
  return assign(new TypeError(`its argument \`${argument}\` ${words}`), { argument });
}

function issuesOf(issues) {
  const list = [];
  for (let i = 0; i < issues.length; i++) {
    const path = [];
    const steps = issues[i].path ?? [];
    for (let j = 0; j < steps.length; j++) {
      const step = steps[j] !== null && typeof steps[j] === "object" ? steps[j].key : steps[j];
      add(path, typeof step === "number" ? step : String(step));
    }
    add(list, { path, message: `${issues[i].message}` });
  }
  return list;
}

async function unchecked(args) {
  return { value: args ?? {} };
}

function objectSchema(properties, required) {
  return required.length ? { type: "object", properties, required } : { type: "object", properties };
}

function plain(value) {
  const copy = copied(value);
  if (copy.error) throw new TypeError(`its args cannot be written as JSON: ${copy.error}`);
  return copy.value;
}

function asJson(value, name) {
  try {
    const text = stringify(value);
    if (typeof text === "string") return { ok: { output: text } };
    return { bad: `the tool \`${name}\` returned an object that has no JSON` };
  } catch (error) {
    return { bad: `what the tool \`${name}\` returned cannot be written as JSON: ${messageOf(error)}` };
  }
}

function copied(value) {
  try {
    const text = stringify(value);
    return { value: text === undefined ? undefined : parse(text) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function messageOf(error) {
  const message = error !== null && typeof error === "object" ? error.message : error;
  return typeof message === "string" && message !== "" ? message : "it cannot be read";
}

function add(list, value) {
  list[list.length] = value;
}

