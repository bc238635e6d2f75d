// The hooks `auth` and `provider`: what a file offers of them, and each step of what haft wants of one. Who logs in answers
// prompts one by one, so what is under way is kept here from one step to the next: callbacks that wait for a code, and the
// options of loaders with their own `fetch`.
import { base64Encode, request } from "haft:ops";

const { create, entries } = Object;
const { isArray } = Array;

/** So much of an answer is handed over at once, and so many answers are kept for whoever reads them. */
const PIECE_BYTES_MAX = 1 << 20;
const ANSWERS_MAX = 32;
const tickets = create(null);
const loaded = create(null);
const arriving = new Map();
let issued = 0;

/** What a file offers, without any of its functions. */
export function offered(hooks) {
  const found = { auth: [], models: [], skipped: [] };
  for (let i = 0; i < hooks.length; i++) {
    const { auth, provider } = hooks[i];
    if (auth) describeAuth(auth, found);
    if (provider) describeModels(provider, found);
  }
  return found;
}

/** Does one step, and answers with what haft needs of it. `signalled` gives an object the signal of this step. */
export async function step(hooks, hook, given, signalled) {
  if (hook === "provider") return { models: await modelsOf(hooks, given) };
  switch (given.act) {
    case "asks":
      return { asks: await isAsked(promptOf(hooks, given), given.inputs) };
    case "checks":
      return { objection: await objectionTo(promptOf(hooks, given), given.value) };
    case "authorize":
      return authorize(methodOf(hooks, given), given.inputs);
    case "callback":
      return { outcome: await callback(given) };
    case "loader":
      return load(authOf(hooks, given.provider), given.provider, given.info);
    case "fetch":
      return carry(given, signalled);
    case "read":
      return read(given.stream, signalled);
    case "drop":
      return drop(given.stream);
    default:
      throw new TypeError(`auth has no step \`${given.act}\``);
  }
}

function describeAuth(auth, found) {
  const skip = (why) => add(found.skipped, { export: "auth", why });
  if (!isId(auth.provider)) return skip("it names no provider in one word");
  if (byProvider(found.auth, auth.provider)) return skip(`there is one for ${auth.provider} already`);
  const methods = [];
  const given = isArray(auth.methods) ? auth.methods : [];
  for (let i = 0; i < given.length; i++) {
    const why = whyNoMethod(given[i]);
    if (why === null) add(methods, { at: i, type: given[i].type, label: text(given[i].label), prompts: promptsOf(given[i]) });
    else skip(`its method ${i + 1} ${why}`);
  }
  add(found.auth, { provider: auth.provider, loads: typeof auth.loader === "function", methods });
}

function describeModels(provider, found) {
  const skip = (why) => add(found.skipped, { export: "provider", why });
  if (!isId(provider.id)) return skip("it names no provider in one word");
  if (provider.models === undefined || provider.models === null) return skip("it has no models function");
  if (typeof provider.models !== "function") return skip("its models is no function");
  if (!found.models.includes(provider.id)) add(found.models, provider.id);
}

function whyNoMethod(method) {
  if (method === null || typeof method !== "object") return "is no object";
  if (method.type !== "oauth" && method.type !== "api") return "is of a type that haft does not know";
  if (method.type === "oauth" && typeof method.authorize !== "function") return "has no authorize function";
  const prompts = method.prompts ?? [];
  if (!isArray(prompts)) return "has prompts that are no list";
  for (let i = 0; i < prompts.length; i++) {
    const prompt = prompts[i];
    if (prompt === null || typeof prompt !== "object" || typeof prompt.key !== "string") return "has a prompt without a key";
    if (prompt.type !== "text" && prompt.type !== "select") return "has a prompt of a type that haft does not know";
    if (prompt.type === "select" && !(isArray(prompt.options) && prompt.options.length > 0)) return "has a choice without options";
  }
  return null;
}

function promptsOf(method) {
  const described = [];
  const prompts = method.prompts ?? [];
  for (let i = 0; i < prompts.length; i++) {
    const prompt = prompts[i];
    const one = { type: prompt.type, key: prompt.key, message: text(prompt.message || prompt.key) };
    one.conditional = typeof prompt.condition === "function" || isRule(prompt.when);
    one.checked = typeof prompt.validate === "function";
    if (typeof prompt.placeholder === "string") one.placeholder = prompt.placeholder;
    if (prompt.type === "select") one.options = optionsOf(prompt.options);
    add(described, one);
  }
  return described;
}

function optionsOf(options) {
  const described = [];
  for (let i = 0; i < options.length; i++) {
    const value = text(options[i]?.value ?? options[i]);
    const one = { label: text(options[i]?.label ?? value), value };
    if (typeof options[i]?.hint === "string") one.hint = options[i].hint;
    add(described, one);
  }
  return described;
}

function isRule(when) {
  return when !== null && typeof when === "object" && typeof when.key === "string";
}

async function isAsked(prompt, inputs) {
  if (isRule(prompt.when)) {
    const { key, op, value } = prompt.when;
    if (inputs[key] === undefined) return false;
    return op === "neq" ? inputs[key] !== value : inputs[key] === value;
  }
  return typeof prompt.condition === "function" ? Boolean(await prompt.condition({ ...inputs })) : true;
}

async function objectionTo(prompt, value) {
  if (typeof prompt.validate !== "function") return null;
  const said = await prompt.validate(value);
  if (said === undefined || said === null || said === "" || said === true) return null;
  return text(said?.message ?? (said === false ? "this is not valid" : said));
}

async function authorize(method, inputs) {
  if (typeof method.authorize !== "function") return { typed: true };
  const answer = await method.authorize({ ...inputs });
  if (method.type === "api") return { outcome: outcomeOf(answer) };
  if (answer === null || typeof answer !== "object" || typeof answer.callback !== "function") {
    throw new TypeError("authorize must return { url, instructions, method, callback }");
  }
  const ticket = ++issued;
  tickets[ticket] = answer;
  const { url, instructions } = answer;
  return { ticket, url: text(url ?? ""), instructions: text(instructions ?? ""), code: answer.method === "code" };
}

async function callback({ ticket, code }) {
  const answer = tickets[ticket];
  if (answer === undefined) throw new Error("this login was finished already, or its process is gone; begin again");
  delete tickets[ticket];
  return outcomeOf(await (answer.method === "code" ? answer.callback(code) : answer.callback()));
}

function outcomeOf(answer) {
  return answer !== null && typeof answer === "object" && answer.type === "success" ? answer : { type: "failed" };
}

async function load(auth, provider, info) {
  if (typeof auth.loader !== "function") return {};
  const getAuth = async () => (await request("auth", { provider })) ?? undefined;
  const options = (await auth.loader(getAuth, info)) ?? {};
  if (typeof options !== "object") throw new TypeError("the loader must return an object of options");
  loaded[provider] = options;
  const { apiKey, baseURL, headers } = options;
  const told = { headers: headersOf(headers), carries: typeof options.fetch === "function" };
  if (typeof apiKey === "string") told.apiKey = apiKey;
  if (typeof baseURL === "string") told.baseURL = baseURL;
  return told;
}

async function carry({ provider, url, method, headers, body }, signalled) {
  const options = loaded[provider];
  // Another process than the one that loaded it.
  if (typeof options?.fetch !== "function") return { unloaded: true };
  const init = { method, headers: {} };
  for (let i = 0; i < headers.length; i++) init.headers[headers[i][0]] = headers[i][1];
  if (typeof body === "string") init.body = body;
  signalled(init, "signal");
  const answer = await options.fetch(url, init);
  if (typeof answer?.status !== "number" || typeof answer.arrayBuffer !== "function") {
    throw new TypeError("its fetch must answer with a Response");
  }
  const told = { status: answer.status, headers: headersOf(answer.headers) };
  if (answer.body === null || answer.body === undefined) return told;
  const stream = ++issued;
  arriving.set(stream, { reader: answer.body.getReader(), rest: null });
  // Whoever left some behind does not come back for the oldest.
  if (arriving.size > ANSWERS_MAX) drop(arriving.keys().next().value);
  return { ...told, stream };
}

/** The next bytes of an answer. Who stops waiting for them wants none of it any more. */
async function read(stream, signalled) {
  const held = arriving.get(stream);
  if (held === undefined) throw new Error("this answer is gone");
  if (held.rest === null) {
    const order = {};
    signalled(order, "signal");
    const stopped = new Promise((_, stop) => order.signal.addEventListener("abort", () => stop(order.signal.reason)));
    const next = held.reader.read();
    next.catch(() => {});
    const { done, value } = await Promise.race([next, stopped]);
    if (done) {
      arriving.delete(stream);
      return { done: true };
    }
    held.rest = typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  const bytes = held.rest;
  held.rest = bytes.length > PIECE_BYTES_MAX ? bytes.subarray(PIECE_BYTES_MAX) : null;
  return { data: base64Encode(bytes.subarray(0, PIECE_BYTES_MAX)) };
}

function drop(stream) {
  const held = arriving.get(stream);
  arriving.delete(stream);
  // What its source thinks of that is nobody's concern.
  held?.reader.cancel().catch(() => {});
  return {};
}

async function modelsOf(hooks, { provider, info, auth }) {
  for (let i = 0; i < hooks.length; i++) {
    const hook = hooks[i].provider;
    if (hook?.id !== provider || typeof hook.models !== "function") continue;
    const models = await hook.models(info, { auth: auth ?? undefined });
    if (models !== null && models !== undefined && typeof models !== "object") throw new TypeError("models must return an object");
    return models ?? {};
  }
  return {};
}

function authOf(hooks, provider) {
  for (let i = 0; i < hooks.length; i++) if (hooks[i].auth?.provider === provider) return hooks[i].auth;
  throw new Error(`there is no auth for ${provider} in this file any more`);
}

function methodOf(hooks, { provider, method }) {
  const found = authOf(hooks, provider).methods?.[method];
  if (found === undefined || found === null) throw new Error(`auth for ${provider} has no such method any more`);
  return found;
}

function promptOf(hooks, given) {
  const found = methodOf(hooks, given).prompts?.[given.prompt];
  if (found === undefined || found === null) throw new Error("there is no such prompt any more");
  return found;
}

/** Headers in any of the web's forms, each a name and a text. */
function headersOf(headers) {
  const list = [];
  if (headers === undefined || headers === null) return list;
  const pairs = typeof headers[Symbol.iterator] === "function" ? [...headers] : entries(headers);
  for (let i = 0; i < pairs.length; i++) {
    const value = pairs[i][1];
    if (value !== undefined && value !== null) add(list, [text(pairs[i][0]), text(value)]);
  }
  return list;
}

function byProvider(offers, provider) {
  for (let i = 0; i < offers.length; i++) if (offers[i].provider === provider) return true;
  return false;
}

/** Models are named `provider/model`, so a provider is one word without a slash. */
function isId(value) {
  return typeof value === "string" && /^[^\s/]{1,100}$/.test(value);
}

function text(value) {
  return `${value}`;
}

function add(list, value) {
  list[list.length] = value;
}
