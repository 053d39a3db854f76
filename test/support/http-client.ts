// A client of a server somewhere else, which knows only HTTP; every response is checked against the OpenAPI document.
import { type Send, sender } from './harness.ts';
import { type Client, clientOf } from './v2.ts';

const UNAVAILABLE = 503;

/** There was no response, or one that says to try again later. */
export class Unavailable extends Error {}

/** A client of the server at that address. Its requests throw `Unavailable` while there is none. */
export function httpClient(url: string, key: string): Client {
  const sendOnce = sender((request) => fetch(request), { v1: key, v2: key }, url);
  const send: Send = async (...request) => {
    const reply = await sendOnce(...request).catch((error) => {
      // What fetch throws has a code.
      throw error instanceof Error && 'code' in error ? new Unavailable(error.message) : error;
    });
    if (reply.status === UNAVAILABLE) throw new Unavailable(reply.text);
    return reply;
  };
  const issue = () => Promise.reject(new Error('keys are issued by the command line'));
  return clientOf({ send, v2: key, issue });
}
