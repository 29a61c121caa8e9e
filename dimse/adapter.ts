import dcmjsDimse from 'dcmjs-dimse';
import { SonogateError } from '../src/errors/catalogue.ts';
import type { CalledNode } from './network/requestor.ts';

/**
 * The one file that imports dcmjs-dimse. It serves the requests whose messages are small. Objects
 * do not go through it: its receiver loses bytes of a slow sink and has no bound on a PDU, and its
 * sender encodes data sets anew; `network/` does both.
 */
const { Client, constants, log, requests } = dcmjsDimse;

// It prints whole association dumps otherwise; what matters comes back as an error.
log.setLevel('silent');

/**
 * C-ECHO (PS3.4 Annex A).
 * @returns the DIMSE status of the peer.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
 */
export function verify(node: CalledNode): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = new Client();
    const request = new requests.CEchoRequest();
    let status: number | null = null;
    request.on('response', (response) => {
      if (response.getStatus() !== constants.Status.Pending) status = response.getStatus();
    });
    client.addRequest(request);
    client.on('associationRejected', ({ result, source, reason }) =>
      reject(
        new SonogateError(
          'peer_rejected_association',
          `A-ASSOCIATE-RJ result ${result}, source ${source}, reason ${reason}.`,
        ),
      ),
    );
    client.on('networkError', (error: Error) =>
      reject(new SonogateError('peer_unreachable', error.message.replace(/^.*-> /, ''))),
    );
    client.on('closed', () => {
      if (status !== null) resolve(status);
      else reject(new SonogateError('peer_unreachable', 'The peer closed without an answer.'));
    });
    const timeout = node.timeoutSeconds * 1000;
    client.send(node.host, node.port, node.callingAeTitle, node.aeTitle, {
      connectTimeout: timeout,
      associationTimeout: timeout,
      pduTimeout: timeout,
    });
  });
}
