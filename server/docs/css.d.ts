// Files embedded in the executable: importing one with `type: 'text'` gives its content.
declare module '*.css' {
  const text: string;
  export = text;
}
