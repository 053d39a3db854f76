// Version 1 is deprecated: since when, and where a client is told what to do.
import { anchorOf } from './heading-anchor.ts';

// RFC 9745: Unix seconds, of 2026-01-01.
const DEPRECATED_SINCE = '@1767225600';

/** Heading of the migration notes in the description, and so on the page that shows it. */
export const MIGRATION_TITLE = 'From version 1 to version 2';
const ANCHOR = anchorOf(MIGRATION_TITLE);

/** The headers that every answer of version 1 carries; `baseUrl` is where clients reach the service. */
export function deprecationHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    Deprecation: DEPRECATED_SINCE,
    Link: `<${baseUrl}/docs#${ANCHOR}>; rel="deprecation"; type="text/html"`,
  };
}
