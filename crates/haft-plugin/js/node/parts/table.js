// `console.table`: rows and columns in a frame of box-drawing characters.
import { inspect } from "haft:node/parts/inspect";

const show = (value) =>
  inspect(value, {
    depth: typeof value === "object" && value !== null && Object.keys(value).length > 2 ? -1 : 0,
    maxArrayLength: 3,
    breakLength: Infinity,
  });

function frame(head, rows) {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)) + 2);
  const bar = (left, middle, right) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
  const centred = (text, width) => {
    const left = Math.floor((width - text.length) / 2);
    return " ".repeat(left) + text + " ".repeat(width - text.length - left);
  };
  const line = (cells) => `│${cells.map((cell, i) => centred(cell, widths[i])).join("│")}│`;
  return [bar("┌", "┬", "┐"), line(head), bar("├", "┼", "┤"), ...rows.map(line), bar("└", "┴", "┘")].join(
    "\n",
  );
}

export function tableOf(data, only) {
  const isMap = data instanceof Map;
  const pairs =
    isMap || data instanceof Set
      ? [...data.entries()].map(([key, value], i) => [String(i), value, key])
      : Object.keys(data).map((key) => [key, data[key]]);
  const columns = only
    ? [...only]
    : [
        ...new Set(
          pairs.flatMap(([, row]) => (typeof row === "object" && row !== null ? Object.keys(row) : [])),
        ),
      ];
  const plain = pairs.some(([, row]) => typeof row !== "object" || row === null);
  const head = [
    isMap || data instanceof Set ? "(iteration index)" : "(index)",
    ...(isMap ? ["Key"] : []),
    ...columns,
    ...(plain ? ["Values"] : []),
  ];
  const rows = pairs.map(([index, row, key]) => {
    const object = typeof row === "object" && row !== null;
    return [
      index,
      ...(isMap ? [show(key)] : []),
      ...columns.map((column) => (object && Object.hasOwn(row, column) ? show(row[column]) : "")),
      ...(plain ? [object ? "" : show(row)] : []),
    ];
  });
  return frame(head, rows);
}
