// Types of files embedded in the executable: importing one with `type: 'text'` returns its content.
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
