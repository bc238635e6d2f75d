// `util.parseArgs`: options and positionals out of a command line.
import { internal } from "haft:ops";
import { coded } from "haft:node/parts/errors";

export function parseArgs(config = {}) {
  const {
    options = {},
    strict = true,
    allowPositionals = !strict,
    tokens: wantTokens = false,
    allowNegative = false,
  } = config;
  const args = [...(config.args ?? internal("node/process").default.argv.slice(2))];
  const values = Object.create(null);
  const positionals = [];
  const tokens = [];
  const long = (short) => Object.keys(options).find((name) => options[name].short === short) ?? short;

  const unknown = (rawName) => {
    const hint = allowPositionals
      ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${rawName}"`
      : "";
    return coded(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${rawName}'${hint}`);
  };
  function put(index, name, rawName, value, inlineValue) {
    if (strict && !Object.hasOwn(options, name)) throw unknown(rawName);
    const { type, short, multiple } = options[name] ?? {};
    const shown = `${short ? `-${short}, ` : ""}--${name}`;
    if (strict && type === "string" && typeof value !== "string") {
      throw coded(
        TypeError,
        "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
        `Option '${shown} <value>' argument missing`,
      );
    }
    if (strict && type === "boolean" && typeof value === "string") {
      throw coded(
        TypeError,
        "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
        `Option '${shown}' does not take an argument`,
      );
    }
    tokens.push({
      kind: "option",
      name,
      rawName,
      index,
      value: typeof value === "string" ? value : undefined,
      inlineValue,
    });
    const kept = value ?? true;
    if (multiple) (values[name] ??= []).push(kept);
    else values[name] = kept;
  }

  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    const index = i;
    const takes = (name) =>
      options[name]?.type === "string" &&
      i + 1 < args.length &&
      (!strict || !args[i + 1].startsWith("-") || args[i + 1] === "-");
    const ambiguous = (name, rawName) => {
      if (
        strict &&
        options[name]?.type === "string" &&
        args[i + 1]?.length > 1 &&
        args[i + 1].startsWith("-")
      ) {
        throw coded(
          TypeError,
          "ERR_PARSE_ARGS_INVALID_OPTION_VALUE",
          `Option '${rawName}' argument is ambiguous.\nDid you forget to specify the option argument for '${rawName}'?\nTo specify an option argument starting with a dash use '--${name}=-XYZ'.`,
        );
      }
    };
    const take = (name, rawName) => {
      ambiguous(name, rawName);
      const has = takes(name);
      put(index, name, rawName, has ? args[++i] : undefined, has ? false : undefined);
    };
    if (arg === "--") {
      tokens.push({ kind: "option-terminator", index });
      for (const [k, rest] of args.slice(i + 1).entries()) {
        positionals.push(rest);
        tokens.push({ kind: "positional", index: i + 1 + k, value: rest });
      }
      break;
    }
    if (arg.startsWith("--") && arg.length > 2) {
      const at = arg.indexOf("=");
      if (at > 2) put(index, arg.slice(2, at), arg.slice(0, at), arg.slice(at + 1), true);
      else if (allowNegative && arg.startsWith("--no-") && !Object.hasOwn(options, arg.slice(2)))
        put(index, arg.slice(5), arg, false);
      else take(arg.slice(2), arg);
    } else if (arg.startsWith("-") && arg.length > 1) {
      for (let k = 1; k < arg.length; k++) {
        const name = long(arg[k]);
        if (options[name]?.type === "string" && k + 1 < arg.length) {
          put(index, name, `-${arg[k]}`, arg.slice(k + 1).replace(/^=/, ""), true);
          break;
        }
        if (k + 1 === arg.length) take(name, `-${arg[k]}`);
        else put(index, name, `-${arg[k]}`, undefined);
      }
    } else {
      if (!allowPositionals) {
        throw coded(
          TypeError,
          "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
          `Unexpected argument '${arg}'. This command does not take positional arguments`,
        );
      }
      positionals.push(arg);
      tokens.push({ kind: "positional", index, value: arg });
    }
  }
  for (const name in options)
    if (options[name].default !== undefined && values[name] === undefined)
      values[name] = options[name].default;
  return wantTokens ? { values, positionals, tokens } : { values, positionals };
}
