// Errors as `inspect` shows them. QuickJS keeps only the frames in `stack`, V8 also "Name: message"; both
// must read the same, in places of the source.
import { mapStack } from "haft:ops";

// The stack with its first line, whatever the engine left in it.
export function fullStack(error) {
  const head = headOf(error);
  const stack = typeof error.stack === "string" ? mapStack(error.stack) : "";
  if (!stack) return head;
  if (/^\s*at /.test(stack)) return `${head}\n${stack.trimEnd()}`;
  const name = error.name || error.constructor?.name || "Error";
  if (stack.startsWith(name) || stack.includes(String(error.message))) return stack.trimEnd();
  return `${head}\n${stack.trimEnd()}`;
}

function headOf(error) {
  const name = String(error.name || error.constructor?.name || "Error");
  return error.message ? `${name}: ${error.message}` : name;
}

// Node names the class when `name` does not tell it, and adds the code of its own errors.
function named(error, text) {
  const name = String(error.name ?? "Error");
  const made = error.constructor?.name;
  if (made && name === "Error" && made !== "Error" && text.startsWith("Error")) return made + text.slice(5);
  return text;
}

export function errorText({ ctx, depth, show }, error) {
  const stack = named(error, fullStack(error));
  const frames = /\n\s+at /.test(stack);
  let text = frames ? stack : `[${stack}]`;
  if (ctx.indent) text = text.replaceAll("\n", `\n${" ".repeat(ctx.indent)}`);
  const skip = ["stack", "message"];
  if (Object.hasOwn(error, "name") && text.includes(String(error.name))) skip.push("name");
  const extra = () => {
    const lines = [];
    ctx.indent += 2;
    const hidden = (key) =>
      Object.hasOwn(error, key) && !Object.prototype.propertyIsEnumerable.call(error, key);
    if (hidden("cause")) lines.push(`[cause]: ${show(ctx, error.cause, depth + 1)}`);
    if (hidden("errors")) lines.push(`[errors]: ${show(ctx, error.errors, depth + 1)}`);
    ctx.indent -= 2;
    return lines;
  };
  return { text, skip, extra };
}
