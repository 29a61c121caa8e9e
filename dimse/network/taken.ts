import type { Socket } from 'node:net';

/** Resolves when the peer has taken what was written, or the connection has closed. */
export async function taken(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const onTaken = () => {
      socket.off('drain', onTaken).off('close', onTaken);
      resolve();
    };
    socket.on('drain', onTaken).on('close', onTaken);
  });
}
