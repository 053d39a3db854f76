// Which build this is.
import manifest from '../package.json' with { type: 'json' };

// A define of the build replaces the name with the commit; without a build there is none.
declare const CRM_COMMIT: string | undefined;

export const VERSION: string = manifest.version;
export const COMMIT: string = typeof CRM_COMMIT === 'undefined' ? 'development' : CRM_COMMIT;

/** Version, commit and Bun in one line. */
export function versionLine(): string {
  return `crm ${VERSION} (commit ${COMMIT}, Bun ${Bun.version})`;
}
