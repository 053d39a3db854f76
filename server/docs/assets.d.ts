// Files that are embedded in the executable: importing one with `type: 'file'` gives the path to read it from.
declare module '*.css' {
  const path: string;
  export = path;
}

declare module '*/page.js' {
  const path: string;
  export = path;
}

declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string;
  export = path;
}
