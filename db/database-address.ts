// How a database is named: by the URL of a server, or by the path of a file.

/** Whether a text is a URL with a scheme, such as postgres://, and not a file path. */
export function isDatabaseAddress(text: string): boolean {
  return /^(?:[a-z][\w+.-]+:\/\/|postgres(?:ql)?:)/i.test(text);
}
