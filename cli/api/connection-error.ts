// Explains why a server could not be reached, what to do about it, and whether to retry.
import { CliError, errorCode, messageOf } from '../errors.ts';
import { isLoopback } from './loopback.ts';

/** Why a server did not respond. */
export interface ConnectionFailure {
  /** Follows a colon; without a full stop. */
  reason: string;
  nextSteps: string[];
  /** Whether a retry cannot help. */
  isLasting: boolean;
}

const NAME_ANOTHER = 'or choose another server with --url or CRM_URL.';
const PORT_DEFAULT = '4000';

/** Why there was no response from a server URL, from the error of the request. */
export function connectionFailureOf(base: string, error: unknown): ConnectionFailure {
  const { hostname } = new URL(base);
  const code = errorCode(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code)) {
    const reason = /ALTNAME/.test(code)
      ? `its certificate is not valid for ${hostname}`
      : `its certificate is not trusted (${messageOf(error)})`;
    const nextSteps = ['check the certificate, or set NODE_EXTRA_CA_CERTS to the file of its CA.'];
    return { reason, nextSteps, isLasting: true };
  }
  if (code === 'ENOTFOUND') {
    const nextSteps = ['check the host name in --url or CRM_URL.'];
    return { reason: `the host name ${hostname} cannot be resolved`, nextSteps, isLasting: true };
  }
  if (code === 'EPROTO') {
    const plain = base.replace(/^https:/, 'http:');
    const nextSteps = isLoopback(hostname)
      ? [`use plain HTTP: --url ${plain}`]
      : [
          'check the port in --url or CRM_URL.',
          `or, only on a network that you trust, use plain HTTP: --url ${plain}`,
        ];
    return { reason: 'the server does not support TLS', nextSteps, isLasting: true };
  }
  if (code === 'Malformed_HTTP_Response') {
    const nextSteps = ['check the port in --url or CRM_URL.'];
    return { reason: 'the response is not HTTP', nextSteps, isLasting: true };
  }
  return { ...passingFault(base, error), isLasting: false };
}

// Temporary causes: a server that restarts, a network that comes back.
function passingFault(base: string, error: unknown): Omit<ConnectionFailure, 'isLasting'> {
  const { protocol, hostname, port } = new URL(base);
  const code = errorCode(error);
  if (/ECONNREFUSED|ConnectionRefused/.test(code)) {
    const flag = port === PORT_DEFAULT || protocol === 'https:' ? '' : ` --port ${port || '80'}`;
    const start = isLoopback(hostname)
      ? `start the server: crm serve${flag}`
      : `check that the server runs on ${hostname}, and check the port.`;
    return { reason: 'connection refused, no server listens there', nextSteps: [start, NAME_ANOTHER] };
  }
  if (code === 'ECONNRESET') {
    const nextSteps = [
      ...(protocol === 'http:'
        ? [`if the server uses HTTPS: --url ${base.replace(/^http:/, 'https:')}`]
        : []),
      'check the log of the server.',
    ];
    return { reason: 'the connection was closed before the response', nextSteps };
  }
  if (/^E(?:NET|HOST)UNREACH$/.test(code)) {
    const nextSteps = ['check the network and the server URL in --url or CRM_URL.'];
    return { reason: 'the network or host is unreachable', nextSteps };
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    const nextSteps = ['check the server URL in --url or CRM_URL, and whether the server is overloaded.'];
    return { reason: 'the request timed out', nextSteps };
  }
  return { reason: messageOf(error), nextSteps: ['check that the server runs.', NAME_ANOTHER] };
}

/** The error for a server that could not be reached. */
export function connectionError(base: string, error: unknown): CliError {
  const { reason, nextSteps } = connectionFailureOf(base, error);
  return new CliError(`No response from ${base}: ${reason}.`, { nextSteps, cause: error });
}
