// Files that are embedded in the executable: importing one with `type: 'text'` gives what is in it.
declare module '*.service' {
  const text: string;
  export = text;
}

declare module '*.yml' {
  const text: string;
  export = text;
}

declare module '*.logrotate' {
  const text: string;
  export = text;
}

declare module '*Containerfile' {
  const text: string;
  export = text;
}
