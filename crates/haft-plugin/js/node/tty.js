// `tty`: the host has no terminal, and says so.
export const isatty = () => false;
export default { isatty };
