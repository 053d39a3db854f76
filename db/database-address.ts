// What names a database: the address of a server, or the path of a file.

/** Whether a text is an address that begins with a scheme, such as postgres://, and not the path of a file. */
export function isAddress(text: string): boolean {
  return /^(?:[a-z][\w+.-]+:\/\/|postgres(?:ql)?:)/i.test(text);
}
