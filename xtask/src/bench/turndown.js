// The same as the example bench_page, by turndown with the options that opencode gives it.
const { readFileSync } = require("fs");
const TurndownService = require("turndown");
const [page, mode] = process.argv.slice(2);
const html = readFileSync(page, "utf8");
const service = new TurndownService({
  headingStyle: "atx", hr: "---", bulletListMarker: "-", codeBlockStyle: "fenced", emDelimiter: "*",
});
service.remove(["script", "style", "meta", "link"]);
function convert() {
  const began = process.hrtime.bigint();
  const markdown = service.turndown(html);
  console.log(Number(process.hrtime.bigint() - began) / 1e6, Buffer.byteLength(markdown));
}
if (mode === "once") convert();
else if (mode) console.log(html.length);
else require("readline").createInterface({ input: process.stdin }).on("line", convert);
