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
  /** Whether the request may have reached the server all the same. */
  mayHaveArrived: boolean;
}

const NAME_ANOTHER = 'or choose another server with --url or CRM_URL.';
const CHECK_PORT = 'check the port in --url or CRM_URL.';
const PORT_DEFAULT = '4000';

/** Why there was no response from a server URL, from the error of the request. */
export function connectionFailureOf(base: string, error: unknown): ConnectionFailure {
  const { protocol, hostname, port } = new URL(base);
  const code = errorCode(error);
  const lasting = (reason: string, ...nextSteps: string[]) => ({
    ...{ reason, nextSteps, isLasting: true, mayHaveArrived: false },
  });
  // A server that restarts, a network that comes back.
  const passing = (reason: string, ...nextSteps: string[]) => ({
    ...{ reason, nextSteps, isLasting: false, mayHaveArrived: true },
  });
  const unreached = (reason: string, ...nextSteps: string[]) => ({
    ...passing(reason, ...nextSteps),
    mayHaveArrived: false,
  });
  if (/CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code)) {
    return lasting(
      /ALTNAME/.test(code)
        ? `its certificate is not valid for ${hostname}`
        : `its certificate is not trusted (${messageOf(error)})`,
      'check the certificate, or set NODE_EXTRA_CA_CERTS to the file of its CA.',
    );
  }
  if (code === 'ENOTFOUND') {
    return lasting(
      `the host name ${hostname} cannot be resolved`,
      'check the host name in --url or CRM_URL.',
    );
  }
  if (code === 'EPROTO') {
    const plain = `use plain HTTP: --url ${base.replace(/^https:/, 'http:')}`;
    const steps = isLoopback(hostname)
      ? [plain]
      : [CHECK_PORT, `or, only on a network that you trust, ${plain}`];
    return lasting('the server does not support TLS', ...steps);
  }
  if (code === 'Malformed_HTTP_Response')
    return { ...lasting('the response is not HTTP', CHECK_PORT), mayHaveArrived: true };
  if (/ECONNREFUSED|ConnectionRefused/.test(code)) {
    const flag = port === PORT_DEFAULT || protocol === 'https:' ? '' : ` --port ${port || '80'}`;
    const start = isLoopback(hostname)
      ? `start the server: crm serve${flag}`
      : `check that the server runs on ${hostname}, and check the port.`;
    return unreached('connection refused, no server listens there', start, NAME_ANOTHER);
  }
  if (code === 'ECONNRESET') {
    const secure = `if the server uses HTTPS: --url ${base.replace(/^http:/, 'https:')}`;
    return passing(
      'the connection was closed before the response',
      ...(protocol === 'http:' ? [secure] : []),
      'check the log of the server.',
    );
  }
  if (/^E(?:NET|HOST)UNREACH$/.test(code)) {
    return unreached(
      'the network or host is unreachable',
      'check the network and the server URL in --url or CRM_URL.',
    );
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return passing(
      'the request timed out',
      'check the server URL in --url or CRM_URL, and whether the server is overloaded.',
    );
  }
  return passing(messageOf(error), 'check that the server runs.', NAME_ANOTHER);
}

/** No response of a server. */
export class ConnectionError extends CliError {
  /** Whether the request may have reached the server all the same, in any of its attempts. */
  readonly mayHaveArrived: boolean;

  /** @param hadAttempt whether an earlier attempt may have reached the server */
  constructor(base: string, error: unknown, hadAttempt: boolean) {
    const { reason, nextSteps, mayHaveArrived } = connectionFailureOf(base, error);
    super(`No response from ${base}: ${reason}.`, { nextSteps, cause: error });
    this.mayHaveArrived = hadAttempt || mayHaveArrived;
  }
}
