// The components of this executable at compile time, as text and as a software bill of materials.
import { COMMIT, VERSION } from '../version.ts';
import { inventory } from './inventory.ts' with { type: 'macro' };
import type { Component } from './inventory.ts';

const COMPONENTS: readonly Component[] = inventory();

const RUNTIME = {
  name: 'bun',
  version: Bun.version,
  licence: 'MIT',
  notice:
    'The executable contains Bun, and with it JavaScriptCore (LGPL-2.1), SQLite (public domain) and others: see https://bun.com/docs/project/license.',
};

/** Every component with its license, then each license text once, with its components. */
export function licencesText(): string {
  const list = [RUNTIME, ...COMPONENTS].map(({ name, version, licence }) => `${name}@${version}  ${licence}`);
  const byText = Map.groupBy(
    COMPONENTS.filter(({ text }) => text !== ''),
    ({ text }) => text,
  );
  const texts = [...byText].map(([text, components]) => {
    const names = components.map(({ name, version }) => `${name}@${version}`).join(', ');
    return `${'-'.repeat(80)}\n${names}\n\n${text}\n`;
  });
  return `crm ${VERSION} is available under the MIT license. It contains:\n\n${list.join('\n')}\n\n${RUNTIME.notice}\n\n${texts.join('\n')}`;
}

/** The bill of materials: https://cyclonedx.org/docs/1.6/json/. */
export function billOfMaterials(): object {
  const components = [
    {
      ...componentOf(RUNTIME),
      externalReferences: [{ type: 'license', url: 'https://bun.com/docs/project/license' }],
    },
    ...COMPONENTS.map((component) => ({
      ...componentOf(component),
      ...(component.sha512 !== '' && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(component.sha512, 'base64').toString('hex') }],
      }),
    })),
  ];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': 'crm',
        name: 'crm',
        version: VERSION,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'crm:commit', value: COMMIT }],
      },
    },
    components,
    dependencies: [{ ref: 'crm', dependsOn: components.map((component) => component['bom-ref']) }],
  };
}

function componentOf({ name, version, licence }: Pick<Component, 'name' | 'version' | 'licence'>) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const isExpression = /[ ()]/.test(licence);
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [isExpression ? { expression: licence } : { license: { id: licence } }],
  };
}
