// Values inside backticks, where the shell reads twice, and in comments. Bun's own shell does not carry these through, so
// they are ours alone.
import { $ } from "bun";
import { same } from "../lib.mjs";

const nasty = "a b $(id) `x` \"q\" 'p' \\ $HOME * ~ z";
export default [
  ["in backticks", async () => same(await $({ raw: ["printf '%s' `printf '%s' ", " | cat`"] }, "a$(id)`x`'p'\\\"q\"$HOME").text(), "a$(id)`x`'p'\\\"q\"$HOME")],
  ["in backticks within quotes", async () => same(await $({ raw: ['printf %s "`printf %s ', '`"'] }, nasty).text(), nasty)],
  ["in quotes within backticks", async () => same(await $({ raw: ['printf "[%s]" `printf "%s" "', '"`'] }, "x$(id)\"'\\").text(), "[x$(id)\"'\\]")],
  ["in a substitution within quotes within a substitution", async () => same(await $`printf %s "$(printf %s "$(printf %s ${nasty})")"`.text(), nasty)],
  ["in a comment", async () => same([await $`echo hi # it's ${"a\nid"} "
echo ${"x y"}`.text(), await $`(echo hi)# ${"\nid"}`.text(), await $({ raw: ["# ", "\necho ", ""] }, "\nid;", "ok").text()], ["hi\nx y\n", "hi\n", "ok\n"])],
  ["where the quotes are hard to read", async () => same([await $`echo "$(case x in x) echo ${"; echo INJECTED"};; esac)"`.text(), await $`echo $((1 + ${2}))`.text(), await $({ raw: ["echo $'it\\'s' ", " $'", "'"] }, "; echo a", "; echo b").text()].map((text) => text.split("\n").length), [2, 2, 2])],
  ["a value with a NUL is refused", async () => { let said; try { await $`echo ${"a\0b"}`; } catch (error) { said = error.message; } same(said, "a value in a shell command may not contain a NUL character"); }],
];
