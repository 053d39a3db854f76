// Why a server could not be reached, in words, with what to do about it, and whether trying again can help.
import { CliError, errorCode, messageOf } from '../errors.ts';
import { isLoopback } from './loopback.ts';

/** What keeps a server from answering. */
export interface ConnectionFailure {
  /** Follows a colon; without a full stop. */
  reason: string;
  nextSteps: string[];
  /** Whether it will be the same the next time. */
  isLasting: boolean;
}

const NAME_ANOTHER = 'or name another server in --url or CRM_URL.';
const PORT_DEFAULT = '4000';

/** Why no answer came from an address, by the error that the request ended with. */
export function connectionFailureOf(base: string, error: unknown): ConnectionFailure {
  const { hostname } = new URL(base);
  const code = errorCode(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code)) {
    const reason = /ALTNAME/.test(code)
      ? `its certificate is for another name than ${hostname}`
      : `its certificate is not trusted (${messageOf(error)})`;
    const nextSteps = ['check the certificate, or name its authority in NODE_EXTRA_CA_CERTS.'];
    return { reason, nextSteps, isLasting: true };
  }
  if (code === 'ENOTFOUND') {
    const nextSteps = ['check the host name in --url or CRM_URL.'];
    return { reason: `the host name ${hostname} is not known`, nextSteps, isLasting: true };
  }
  if (code === 'EPROTO') {
    const plain = base.replace(/^https:/, 'http:');
    const nextSteps = isLoopback(hostname)
      ? [`name it without TLS: --url ${plain}`]
      : ['check the port in --url or CRM_URL.', `or, only in a network that you trust: --url ${plain}`];
    return { reason: 'the server there does not speak TLS', nextSteps, isLasting: true };
  }
  if (code === 'Malformed_HTTP_Response') {
    const nextSteps = ['check the port in --url or CRM_URL.'];
    return { reason: 'what listens there does not speak HTTP', nextSteps, isLasting: true };
  }
  return { ...passingFault(base, error), isLasting: false };
}

// What can be over in a moment: a server that is being started again, a network that comes back.
function passingFault(base: string, error: unknown): Omit<ConnectionFailure, 'isLasting'> {
  const { protocol, hostname, port } = new URL(base);
  const code = errorCode(error);
  if (/ECONNREFUSED|ConnectionRefused/.test(code)) {
    const flag = port === PORT_DEFAULT || protocol === 'https:' ? '' : ` --port ${port || '80'}`;
    const start = isLoopback(hostname)
      ? `start the server: crm serve${flag}`
      : `check that a server runs on ${hostname}, and its port.`;
    return { reason: 'the connection is refused, nothing listens there', nextSteps: [start, NAME_ANOTHER] };
  }
  if (code === 'ECONNRESET') {
    const nextSteps = [
      ...(protocol === 'http:'
        ? [`where it serves HTTPS, name it so: --url ${base.replace(/^http:/, 'https:')}`]
        : []),
      'see what the log of the server says.',
    ];
    return { reason: 'the connection was closed before an answer came', nextSteps };
  }
  if (/^E(?:NET|HOST)UNREACH$/.test(code)) {
    const nextSteps = ['check the network and the address in --url or CRM_URL.'];
    return { reason: 'there is no way to that address from here', nextSteps };
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    const nextSteps = ['check the address in --url or CRM_URL, and whether the server is overloaded.'];
    return { reason: 'it did not answer in time', nextSteps };
  }
  return { reason: messageOf(error), nextSteps: ['check that the server runs,', NAME_ANOTHER] };
}

/** The error for a server that could not be reached. */
export function connectionError(base: string, error: unknown): CliError {
  const { reason, nextSteps } = connectionFailureOf(base, error);
  return new CliError(`No answer from ${base}: ${reason}.`, { nextSteps, cause: error });
}
