// Types of texts embedded in the executable: importing one with `type: 'text'` returns its content.
declare module '*.txt' {
  const text: string;
  export = text;
}
