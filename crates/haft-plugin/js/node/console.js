// The module `console`: the global one.
import { Console, console } from "haft:web/console";

export { Console };
export const {
  log,
  info,
  warn,
  error,
  debug,
  trace,
  dir,
  table,
  assert,
  count,
  countReset,
  group,
  groupCollapsed,
  groupEnd,
  time,
  timeEnd,
  timeLog,
} = console;
export default console;
