// `constants`: the numbers of `fs` and `os` together, for old packages.
import { constants as files } from "haft:node/fs";
import { constants as system } from "haft:node/os";

const all = { ...files, ...system.errno, ...system.signals, ...system.priority };
export const {
  F_OK,
  R_OK,
  W_OK,
  X_OK,
  O_RDONLY,
  O_WRONLY,
  O_RDWR,
  O_CREAT,
  O_EXCL,
  O_TRUNC,
  O_APPEND,
  ENOENT,
  EEXIST,
  EACCES,
  EPERM,
  SIGINT,
  SIGTERM,
  SIGKILL,
} = all;
export default all;
