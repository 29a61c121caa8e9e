import { once } from 'node:events';
import type { Socket } from 'node:net';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { FrameReader, framed } from './frames.ts';

/** Maximum size of an acknowledgment. If a receiver sends more, its connection is closed. */
const MOST_ACKNOWLEDGMENT_BYTES = 256 * 1024;

/**
 * Sends one message over a new connection and waits for its acknowledgment.
 * @param open starts a connection. It may resolve before the connection is established.
 * @param signal aborts the exchange.
 * @throws SonogateError `peer_unreachable` before anything was sent, `peer_connection_lost`
 * afterwards.
 */
export async function exchange(
  message: Buffer,
  open: () => Promise<Socket>,
  signal: AbortSignal,
): Promise<Buffer> {
  const socket = await connected(open, signal);
  const abort = () => socket.destroy(new Error('no acknowledgment in time'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const answer = acknowledgmentOf(socket);
    socket.write(framed(message));
    return await answer;
  } catch (cause) {
    const detail = `No acknowledgment was received: ${(cause as Error).message}.`;
    throw new SonogateError('peer_connection_lost', detail, { cause });
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

/**
 * Waits until a connection is established, including its TLS handshake.
 * @throws SonogateError `peer_unreachable`; `invalid_config` for a certificate that cannot be read.
 */
export async function connected(open: () => Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  const socket = await open();
  // Errors are handled where the socket is read; without this listener, an error would end the
  // process.
  socket.on('error', () => {});
  try {
    await once(socket, 'encrypted' in socket ? 'secureConnect' : 'connect', { signal });
    socket.setNoDelay(true);
    return socket;
  } catch (cause) {
    socket.destroy();
    throw new SonogateError('peer_unreachable', (cause as Error).message, { cause });
  }
}

function acknowledgmentOf(socket: Socket): Promise<Buffer> {
  const reader = new FrameReader(MOST_ACKNOWLEDGMENT_BYTES);
  let received = 0;
  return new Promise((resolve, reject) => {
    socket.on('data', (bytes) => {
      received += bytes.length;
      for (const frame of reader.push(bytes)) if ('message' in frame) resolve(frame.message);
      // This limit also applies to bytes outside a message.
      if (received > MOST_ACKNOWLEDGMENT_BYTES) {
        reject(new Error('the receiver did not end its acknowledgment'));
      }
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed')));
  });
}
