// How each kind of object is shown by `inspect`: its prefix, its braces and its entries.
const TypedArray = Object.getPrototypeOf(Uint8Array);
const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

// The name of the class that made it, or null for an object without prototype.
export function nameOf(value) {
  for (let at = value; at; at = Object.getPrototypeOf(at)) {
    const made = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof made === "function" && made.name !== "" && (at !== value || value instanceof made))
      return made.name;
  }
  return null;
}

function prefixOf(value, fallback, size = "") {
  const name = nameOf(value);
  const tag = typeof value[Symbol.toStringTag] === "string" ? value[Symbol.toStringTag] : "";
  const shown = tag && tag !== name ? ` [${tag}]` : "";
  return `${name ?? `[${fallback}${size}: null prototype]`}${name ? size : ""}${shown}`;
}

function functionText(value) {
  const source = Function.prototype.toString.call(value);
  const kind = tagOf(value) === "Function" ? "Function" : tagOf(value);
  if (/^class[\s{]/.test(source)) {
    const parent = Object.getPrototypeOf(value)?.name;
    return `[class ${value.name || "(anonymous)"}${parent ? ` extends ${parent}` : ""}]`;
  }
  const base = Object.getPrototypeOf(value) === null ? `${kind} (null prototype)` : kind;
  return `[${base}${value.name ? `: ${value.name}` : " (anonymous)"}]`;
}

export function keysOf(ctx, value) {
  const own = ctx.showHidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value).filter(
    (key) => ctx.showHidden || Object.prototype.propertyIsEnumerable.call(value, key),
  );
  return [...own, ...symbols];
}

const more = (left) => `... ${left} more item${left > 1 ? "s" : ""}`;
const isIndex = (key) => typeof key === "string" && /^(0|[1-9]\d*)$/.test(key) && Number(key) < 4294967295;

function arrayItems({ ctx, depth, property }, value) {
  const output = [];
  const keys = Object.keys(value);
  let at = 0;
  for (; at < value.length && output.length < ctx.maxArrayLength; at++) {
    if (Object.hasOwn(value, at)) output.push(property(ctx, value, String(at), depth, "item"));
    else {
      const next = keys.find((key) => isIndex(key) && Number(key) > at);
      const gap = (next === undefined ? value.length : Number(next)) - at;
      output.push(ctx.style(`<${gap} empty item${gap > 1 ? "s" : ""}>`, "undefined"));
      at += gap - 1;
    }
  }
  if (at < value.length) output.push(more(value.length - at));
  return output;
}

function inner({ ctx, depth, show }, values) {
  ctx.indent += 2;
  const shown = [];
  for (const item of values) {
    if (shown.length >= ctx.maxArrayLength) break;
    shown.push(
      Array.isArray(item) && item.pair
        ? `${show(ctx, item[0], depth + 1)} => ${show(ctx, item[1], depth + 1)}`
        : show(ctx, Array.isArray(item) && item.one ? item[0] : item, depth + 1),
    );
  }
  ctx.indent -= 2;
  return shown;
}

const boxed = (value, tag) => {
  try {
    const plain = { Number, String, Boolean, BigInt, Symbol }[tag]?.prototype.valueOf.call(value);
    return typeof plain === "object" ? undefined : plain;
  } catch {
    return undefined;
  }
};

export function entriesOf(tools, value, error) {
  const { ctx, depth, property } = tools;
  const keys = keysOf(ctx, value);
  const rest = (names = keys) => names.map((key) => property(ctx, value, key, depth));
  const plain = (prefix, render = rest) => ({ prefix, braces: ["{", "}"], render, bare: `${prefix} {}` });
  const text = (bare, names = keys) => ({
    prefix: bare,
    braces: ["{", "}"],
    render: () => rest(names),
    bare,
  });

  if (error)
    return {
      ...text(
        error.text,
        keys.filter((key) => !error.skip.includes(key)),
      ),
      render: () => [...rest(keys.filter((key) => !error.skip.includes(key))), ...error.extra()],
    };
  if (Array.isArray(value)) {
    const prefix = prefixOf(value, "Array", `(${value.length})`);
    const shown = prefix === `Array(${value.length})` ? "" : prefix;
    const extra = value.length > ctx.maxArrayLength ? 1 : 0;
    const others = keys.filter((key) => !isIndex(key) && key !== "length");
    return {
      prefix: shown,
      braces: ["[", "]"],
      list: { value: others.length ? undefined : value, extra },
      render: () => [...arrayItems(tools, value), ...rest(others)],
    };
  }
  if (value instanceof TypedArray) {
    const extra = value.length > ctx.maxArrayLength ? 1 : 0;
    const render = () => {
      const shown = Array.from(value.subarray(0, ctx.maxArrayLength), (item) =>
        tools.show(ctx, item, depth + 1),
      );
      return [
        ...shown,
        ...(extra ? [more(value.length - ctx.maxArrayLength)] : []),
        ...rest(keys.filter((key) => !isIndex(key))),
      ];
    };
    return {
      prefix: prefixOf(value, tagOf(value), `(${value.length})`).replace(/ \[\w+\]$/, ""),
      braces: ["[", "]"],
      list: { value, extra },
      render,
    };
  }
  const tag = tagOf(value);
  if (value instanceof Set) {
    return plain(prefixOf(value, "Set", `(${value.size})`).replace(" [Set]", ""), () => [
      ...inner(
        tools,
        Array.from(value, (item) => Object.assign([item], { one: true })),
      ),
      ...rest(),
    ]);
  }
  if (value instanceof Map) {
    return plain(prefixOf(value, "Map", `(${value.size})`).replace(" [Map]", ""), () => [
      ...inner(
        tools,
        Array.from(value, (pair) => Object.assign([...pair], { pair: true })),
      ),
      ...rest(),
    ]);
  }
  if (typeof value === "function") return text(ctx.style(functionText(value), "special"));
  if (value instanceof RegExp) return text(ctx.style(RegExp.prototype.toString.call(value), "regexp"));
  if (value instanceof Date)
    return text(ctx.style(Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString(), "date"));
  if (value instanceof ArrayBuffer) {
    const bytes = new Uint8Array(value, 0, Math.min(50, value.byteLength));
    const left = value.byteLength - bytes.length;
    const hex =
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ") +
      (left ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : "");
    return plain("ArrayBuffer", () => [
      `[Uint8Contents]: <${hex}>`,
      `byteLength: ${ctx.style(`${value.byteLength}`, "number")}`,
      ...rest(),
    ]);
  }
  if (value instanceof Promise) return plain("Promise");
  if (value instanceof WeakSet || value instanceof WeakMap)
    return plain(nameOf(value), () => [ctx.style("<items unknown>", "special")]);
  if (value instanceof WeakRef) return plain("WeakRef", () => [tools.show(ctx, value.deref(), depth + 1)]);
  if (tag === "Arguments")
    return {
      prefix: "[Arguments]",
      braces: ["[", "]"],
      list: { value, extra: 0 },
      render: () => Array.from(value, (item) => tools.show(ctx, item, depth + 1)),
    };
  if (tag === "Generator" || tag === "AsyncGenerator") return plain(`Object [${tag}]`);
  const held = boxed(value, tag);
  if (held !== undefined)
    return text(
      ctx.style(`[${tag}: ${tools.show({ ...ctx, style: (s) => s }, held, depth)}]`, tag.toLowerCase()),
      keys.filter((key) => !isIndex(key) && key !== "length"),
    );
  const prefix = prefixOf(value, "Object");
  return prefix === "Object" ? { ...plain(""), bare: "{}" } : plain(prefix);
}
