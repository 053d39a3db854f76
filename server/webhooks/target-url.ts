// The URLs that webhooks can have: https to a public host, or whatever the networks that the operator allows serve.
import { isIP } from 'node:net';
import type { AddressJudge, AddressKind } from './addresses.ts';

/** Where a webhook is sent to, read from its URL. */
export interface WebhookTarget {
  isSecure: boolean;
  /** A name in lower case without a dot at its end, or an IP address without brackets. */
  host: string;
  port: number;
  /** The value of the Host header. */
  authority: string;
  /** Path and query. */
  path: string;
}

const PORTS = { http: 80, https: 443 };
const PUBLIC_PORTS = [PORTS.https, 8443];
/** Maximum length of the URL of a webhook. */
export const URL_CHARACTERS_MAX = 2_048;
const EXAMPLE = 'an https URL such as https://example.com/hooks';

// Spaces and control characters, which URL parsers remove or replace.
const ODD_CHARACTERS = /[^\x21-\x7e\u00a1-\u{10ffff}]/u;
const NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;
const LOOPBACK = ['127.0.0.1', '::1'];

/** The target of a URL; null if it is not a URL that webhooks can ever have. */
export function readTarget(text: string): WebhookTarget | null {
  if (text.length > URL_CHARACTERS_MAX || ODD_CHARACTERS.test(text) || !/^https?:\/\/[^/]/i.test(text))
    return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.port === '0') return null;
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) === 0 && (!NAME.test(host) || ENDS_IN_NUMBER.test(host))) return null;
  const port = url.port === '' ? PORTS[isSecure ? 'https' : 'http'] : Number(url.port);
  return { isSecure, host, port, authority: url.host, path: url.pathname + url.search };
}

/** Whether a target can be connected to at an address of that kind. */
export function isTargetOpen({ isSecure, port }: WebhookTarget, kind: AddressKind): boolean {
  return kind === 'allowed' || (kind === 'public' && isSecure && PUBLIC_PORTS.includes(port));
}

/**
 * What is wrong with the URL of a webhook, as the message of a fault; null if nothing is. The addresses of a name are not
 * looked up, which happens at each attempt.
 * @param hasAllowed whether the operator allows any network, to which a name could then belong
 */
export function urlFault(text: string, judge: AddressJudge, hasAllowed: boolean): string | null {
  if (text.length > URL_CHARACTERS_MAX) return `must have at most ${URL_CHARACTERS_MAX} characters`;
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return 'must not contain a user name or password';
  const target = readTarget(text);
  if (target === null) return `must be ${EXAMPLE}`;
  const literals = literalsOf(target.host);
  const kinds: AddressKind[] = literals?.map(judge) ?? (hasAllowed ? ['public', 'allowed'] : ['public']);
  if (kinds.includes('closed'))
    return 'must not be a private or reserved address; the operator of the service can allow networks';
  if (kinds.some((kind) => isTargetOpen(target, kind))) return null;
  return target.isSecure ? 'must use port 443 or 8443' : `must be ${EXAMPLE}`;
}

// The addresses that a host has without asking anyone: those of a literal, or of this machine.
function literalsOf(host: string): readonly string[] | null {
  if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK;
  return isIP(host) === 0 ? null : [host];
}
