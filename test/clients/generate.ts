// Makes clients from a description, as its users would: `bun generate.ts DESCRIPTION FOLDER`; a process of its own.
import { plugin } from 'bun';
import typescript from 'typescript-5';

// The generators write with the compiler's library, which TypeScript 7 does not have.
plugin({
  name: 'typescript-5',
  setup: (build) =>
    void build.module('typescript', () => ({
      loader: 'object',
      exports: { ...typescript, default: typescript },
    })),
});

const [, , input = '', folder = ''] = process.argv;
// Only now, so that they are given the library.
const { createClient } = await import('@hey-api/openapi-ts');
const { default: openapiTypescript, astToString } = await import('openapi-typescript');
const { generate } = await import('orval');

await Bun.write(
  `${folder}/openapi-typescript.ts`,
  astToString(await openapiTypescript(new URL(`file://${input}`))),
);
await createClient({ input, output: `${folder}/hey-api`, logs: { level: 'silent', file: false } });
await generate({ input, output: { target: `${folder}/orval.ts`, client: 'fetch' } });
