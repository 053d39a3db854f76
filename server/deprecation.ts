// Version 1 is deprecated: since when, and where clients find the migration guide.
import { anchorOf } from './heading-anchor.ts';

// RFC 9745: 2026-01-01 in Unix seconds.
const DEPRECATED_SINCE = '@1767225600';

/** Heading of the migration guide in the description, and so on the page that shows it. */
export const MIGRATION_TITLE = 'From version 1 to version 2';
const ANCHOR = anchorOf(MIGRATION_TITLE);

/** The headers of every version 1 response; `baseUrl` is the public URL of the service. */
export function deprecationHeaders(baseUrl: string): Readonly<Record<string, string>> {
  return {
    Deprecation: DEPRECATED_SINCE,
    Link: `<${baseUrl}/docs#${ANCHOR}>; rel="deprecation"; type="text/html"`,
  };
}
