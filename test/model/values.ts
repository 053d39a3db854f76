// The few values that requests of the model-based test carry: enough to meet, to conflict and to be refused.

/** Addresses, some of them one in two spellings. */
export const EMAILS = ['ada@x.example', 'ADA@x.example', 'bob@x.example', 'cyd@y.example', 'Cyd@Y.example'];
/** Spelling → the form in which a domain is kept. */
export const DOMAINS: Record<string, string> = {
  'acme.example': 'acme.example',
  'https://www.ACME.example/about': 'acme.example',
  'other.example.': 'other.example',
  'OTHER.example': 'other.example',
  'third.example': 'third.example',
};

/** The stored form of one of these domains. */
export function normalized(domain: string): string {
  const found = DOMAINS[domain] ?? Object.values(DOMAINS).find((stored) => stored === domain);
  if (found === undefined) throw new Error(`the model knows no domain ${domain}`);
  return found;
}
