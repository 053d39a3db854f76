// Pages are embedded in the executable: importing one with `type: 'text'` gives what is in it.
declare module '*.md' {
  const text: string;
  export = text;
}
