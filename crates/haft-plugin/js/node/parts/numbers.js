// Numbers of signals and errors, as the kernel of this platform has them.
import { platform } from "haft:ops";

const mac = platform() === "darwin";
const pick = (linux, darwin) => (mac ? darwin : linux);

export const signals = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGIOT: 6,
  SIGBUS: pick(7, 10),
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: pick(10, 30),
  SIGSEGV: 11,
  SIGUSR2: pick(12, 31),
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGCHLD: pick(17, 20),
  SIGCONT: pick(18, 19),
  SIGSTOP: pick(19, 17),
  SIGTSTP: pick(20, 18),
  SIGTTIN: 21,
  SIGTTOU: 22,
  SIGURG: pick(23, 16),
  SIGXCPU: 24,
  SIGXFSZ: 25,
  SIGVTALRM: 26,
  SIGPROF: 27,
  SIGWINCH: 28,
  SIGIO: pick(29, 23),
  SIGSYS: pick(31, 12),
};

export const errno = {
  EPERM: 1,
  ENOENT: 2,
  ESRCH: 3,
  EINTR: 4,
  EIO: 5,
  ENXIO: 6,
  E2BIG: 7,
  ENOEXEC: 8,
  EBADF: 9,
  ECHILD: 10,
  EAGAIN: pick(11, 35),
  ENOMEM: 12,
  EACCES: 13,
  EFAULT: 14,
  EBUSY: 16,
  EEXIST: 17,
  EXDEV: 18,
  ENODEV: 19,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ENOTTY: 25,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSPC: 28,
  ESPIPE: 29,
  EROFS: 30,
  EMLINK: 31,
  EPIPE: 32,
  ENAMETOOLONG: pick(36, 63),
  ENOTEMPTY: pick(39, 66),
  ELOOP: pick(40, 62),
  EADDRINUSE: pick(98, 48),
  ECONNRESET: pick(104, 54),
  ETIMEDOUT: pick(110, 60),
  ECONNREFUSED: pick(111, 61),
};

export const signalName = (signal) => {
  if (typeof signal === "string") return signal in signals ? signal : undefined;
  return Object.keys(signals).find((name) => signals[name] === signal);
};
