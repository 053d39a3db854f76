// Sends requests for one row: errors about the row reject it, other errors end the import.
import type { Client, RequestOptions } from '../../api/client.ts';
import type { ApiResponse, ErrorDetail } from '../../api/envelope.ts';
import { isTooLong, responseError } from '../../api/response-error.ts';
import { joined, type Rejection, RowFault } from '../row.ts';

const ROW_STATUSES = [404, 409, 413, 422];

/** Sends a request for one row; throws a RowFault for a 404, 409, 413, 414, 422 or 431, and a CliError for the rest. */
export async function requestForRow(
  client: Client,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<ApiResponse> {
  const response = await client
    .request(method, path, { ...options, expectErrors: true })
    .catch((error: unknown) => {
      if (!isTooLong(error)) throw error;
      throw new RowFault('VALIDATION_OUT_OF_RANGE', '', 'is too long for a request to the server');
    });
  const { status, body } = response;
  if (body.object !== 'error') return response;
  if (!ROW_STATUSES.includes(status)) throw responseError(response);
  const { code, message, path: field } = rejectionOfError(body.error);
  throw new RowFault(code, field, message);
}

/** A conflict names the other record. */
function withOwner({ existing_id: id, ...fault }: ErrorDetail): ErrorDetail {
  return id === undefined ? fault : { ...fault, message: `${fault.message}: ${id}` };
}

/** The server's error about one record, for the errors file. */
export function rejectionOfError(error: {
  code: string;
  message: string;
  details?: readonly ErrorDetail[] | null;
}): Rejection {
  const { code, message, details } = error;
  const faults = details && details.length > 0 ? details.map(withOwner) : [{ message }];
  if (faults.length === 1) return { code, ...joined(faults) };
  const reasons = faults.map((fault) => ({ code, path: '', ...fault }));
  return { code, ...joined(faults), reasons };
}
