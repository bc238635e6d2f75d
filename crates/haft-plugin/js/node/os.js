// The module `os`.
import * as ops from "haft:ops";
import { coded } from "haft:node/parts/errors";
import { errno, signals } from "haft:node/parts/numbers";

export const EOL = "\n";
export const devNull = "/dev/null";
export const hostname = () => ops.hostname();
export const homedir = () => ops.homedir();
export const tmpdir = () => ops.tmpdir();
export const platform = () => ops.platform();
export const arch = () => ops.arch();
export const type = () => ops.system().type;
export const release = () => ops.system().release;
export const version = () => ops.system().version;
export const machine = () => ops.system().machine;
export const totalmem = () => ops.system().totalmem;
export const freemem = () => ops.system().freemem;
export const loadavg = () => ops.system().loadavg;
export const uptime = () => ops.system().uptime;
export const availableParallelism = () => ops.system().cpus || 1;
export const endianness = () => "LE";
export const networkInterfaces = () => ({});
export const getPriority = () => 0;
export function cpus() {
  const { cpus: count, cpuModel } = ops.system();
  return Array.from({ length: count }, () => ({
    model: cpuModel,
    speed: 0,
    times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
  }));
}
export function userInfo() {
  const { uid, gid, username, shell } = ops.user();
  return { uid, gid, username, homedir: ops.homedir(), shell: shell ?? null };
}
export function setPriority() {
  throw coded(Error, "ERR_UNSUPPORTED", "os.setPriority is not offered by haft's own engine");
}
export const constants = {
  signals,
  errno,
  priority: {
    PRIORITY_LOW: 19,
    PRIORITY_BELOW_NORMAL: 10,
    PRIORITY_NORMAL: 0,
    PRIORITY_ABOVE_NORMAL: -7,
    PRIORITY_HIGH: -14,
    PRIORITY_HIGHEST: -20,
  },
};

const os = {
  EOL,
  arch,
  availableParallelism,
  constants,
  cpus,
  devNull,
  endianness,
  freemem,
  getPriority,
  homedir,
  hostname,
  loadavg,
  machine,
  networkInterfaces,
  platform,
  release,
  setPriority,
  tmpdir,
  totalmem,
  type,
  uptime,
  userInfo,
  version,
};
// Node lets `${os.tmpdir}` stand for its result.
for (const f of [
  arch,
  availableParallelism,
  endianness,
  freemem,
  homedir,
  hostname,
  machine,
  platform,
  release,
  tmpdir,
  totalmem,
  type,
  uptime,
  version,
])
  f[Symbol.toPrimitive] = () => f();
export default os;
