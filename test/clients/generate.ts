// Makes clients from a description, as its users would: `bun generate.ts DESCRIPTION FOLDER [GENERATOR…]`; a process of its own.
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

const [, , input = '', folder = '', ...chosen] = process.argv;

// Imported only now, so that they are given the library.
const GENERATORS: Record<string, () => Promise<unknown>> = {
  'openapi-typescript': async () => {
    const { default: generate, astToString } = await import('openapi-typescript');
    const types = astToString(await generate(new URL(`file://${input}`)));
    await Bun.write(`${folder}/openapi-typescript.ts`, types);
  },
  'hey-api': async () => {
    const { createClient } = await import('@hey-api/openapi-ts');
    await createClient({ input, output: `${folder}/hey-api`, logs: { level: 'silent', file: false } });
  },
  orval: async () => {
    const { generate } = await import('orval');
    await generate({ input, output: { target: `${folder}/orval.ts`, client: 'fetch' } });
  },
};

for (const [name, generate] of Object.entries(GENERATORS))
  if (chosen.length === 0 || chosen.includes(name)) await generate();
