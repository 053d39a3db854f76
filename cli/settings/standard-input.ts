// What names standard input: commands load this with their flags, so it loads nothing else.

// Nothing belongs beside these, and what they give can be read only once, even if it is a file.
const NAMES = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'];

/** The input that an argument names: `-` for standard input, by whatever name. */
export function inputNamed(path: string): string {
  return NAMES.includes(path) ? '-' : path;
}
