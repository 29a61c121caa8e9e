import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A webhook that arrived and was answered with 204. */
export interface HookCall {
  webhookId: string;
  requestId: string;
}

export interface HookReceiver {
  url: string;
  port: number;
  calls: readonly HookCall[];
  close(): Promise<void>;
}

/** Starts a webhook server, as an API client would, that counts the events it receives. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const calls: HookCall[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    calls.push({
      webhookId: String(request.headers['webhook-id']),
      requestId: /req_\w+/.exec(body)?.[0] ?? '',
    });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    calls,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
