import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Response of the receiver: either nothing, or a status with headers and a body that may break off.
 */
export type Reply =
  | { status: number; headers?: OutgoingHttpHeaders; body?: string; breaksOff?: boolean }
  | 'silence';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  port: number;
  received: Received[];
  /**
   * Responses to the next requests, one each. Once they are used up, requests are answered with
   * 204.
   */
  replies: Reply[];
  close(): Promise<void>;
}

/** Starts a webhook server, as a client would, on a free loopback port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const replies: Reply[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: await text(request) });
    const reply = replies.shift() ?? { status: 204 };
    if (reply === 'silence') return;
    response.writeHead(reply.status, reply.headers);
    if (reply.breaksOff) response.write(reply.body, () => response.destroy());
    else response.end(reply.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    replies,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
