import dimse from 'dcmjs-dimse';
import { overAssociation as perform } from '../../src/app/simulate/dcmjs-client.ts';
import { freePort } from './free-port.ts';

/**
 * An independent node based on dcmjs-dimse, usable at either end of an association; it shares no
 * code with `dimse/network/`. It is meant for small objects on loopback; docs/dicom.md lists what
 * it cannot do.
 */

const { Server, Scp, constants, requests, responses } = dimse;
const { PresentationContextResult, Status, TransferSyntax } = constants;

// dcmjs-dimse logs every PDU, and its dcmjs warns about attributes that can have one of two types.
dimse.log.disableAll();

/** A data set by keyword. */
export type Elements = Record<string, unknown>;

/** A node that accepts every class in native transfer syntaxes and keeps what it receives. */
export interface DcmjsNode {
  port: number;
  received: Elements[];
  /** Sets the status of all further responses. */
  answer(status: number): void;
  stop(): void;
}

const NATIVE: ReadonlySet<string> = new Set([
  TransferSyntax.ExplicitVRLittleEndian,
  TransferSyntax.ImplicitVRLittleEndian,
]);

export async function startDcmjsNode(): Promise<DcmjsNode> {
  const received: Elements[] = [];
  let status: number = Status.Success;

  class Node extends Scp {
    override associationRequested(association: dimse.association.Association) {
      for (const { context } of association.getPresentationContexts()) {
        const syntax = context.getTransferSyntaxUids().find((uid) => NATIVE.has(uid));
        if (syntax) context.setResult(PresentationContextResult.Accept, syntax);
        else context.setResult(PresentationContextResult.RejectTransferSyntaxesNotSupported);
      }
      this.sendAssociationAccept();
    }

    override cEchoRequest(
      request: dimse.requests.CEchoRequest,
      callback: (response: dimse.responses.CEchoResponse) => void,
    ) {
      const response = responses.CEchoResponse.fromRequest(request);
      response.setStatus(Status.Success);
      callback(response);
    }

    override cStoreRequest(
      request: dimse.requests.CStoreRequest,
      callback: (response: dimse.responses.CStoreResponse) => void,
    ) {
      if (status === Status.Success) received.push(request.getDataset()?.getElements() ?? {});
      const response = responses.CStoreResponse.fromRequest(request);
      response.setStatus(status);
      callback(response);
    }

    override associationReleaseRequested() {
      this.sendAssociationReleaseResponse();
    }
  }

  const port = await freePort();
  const server = new Server(Node);
  // The side under test reports the errors of an association.
  server.on('networkError', () => {});
  server.listen(port);
  return {
    port,
    received,
    answer: (next) => {
      status = next;
    },
    stop: () => server.close(),
  };
}

export interface CalledByDcmjs {
  port: number;
  calledAeTitle?: string;
  callingAeTitle?: string;
}

const overAssociation = (
  { port, calledAeTitle = 'SONOGATE', callingAeTitle = 'DCMJS' }: CalledByDcmjs,
  ask: (client: dimse.Client) => void,
) => perform({ host: '127.0.0.1', port, aeTitle: calledAeTitle, callingAeTitle }, ask);

/**
 * Sends files with C-STORE. dcmjs-dimse decodes and re-encodes them, whereas the carts of
 * `simulate` send them unchanged.
 * @returns the status of each.
 */
export async function storeByDcmjs(
  node: CalledByDcmjs,
  paths: readonly string[],
): Promise<number[]> {
  const statuses: number[] = [];
  await overAssociation(node, (client) => {
    for (const path of paths) {
      const request = new requests.CStoreRequest(path);
      request.on('response', (response: dimse.responses.CStoreResponse) => {
        statuses.push(response.getStatus());
      });
      client.addRequest(request);
    }
  });
  return statuses;
}

/**
 * Queries at study level with C-FIND.
 * @returns the matches.
 */
export async function findByDcmjs(node: CalledByDcmjs, keys: Elements): Promise<Elements[]> {
  const found: Elements[] = [];
  await overAssociation(node, (client) => {
    const request = requests.CFindRequest.createStudyFindRequest(keys);
    request.on('response', (response: dimse.responses.CFindResponse) => {
      if (response.getStatus() === Status.Pending && response.hasDataset()) {
        found.push(response.getDataset()?.getElements() ?? {});
      }
    });
    client.addRequest(request);
  });
  return found;
}

/**
 * Fetches a study with C-GET. Its objects arrive over the same association, for which dcmjs-dimse
 * proposes every storage class it knows.
 */
export async function getByDcmjs(
  node: CalledByDcmjs,
  studyUid: string,
): Promise<{ received: Elements[]; failed: number }> {
  const received: Elements[] = [];
  let failed = 0;
  await overAssociation(node, (client) => {
    const request = requests.CGetRequest.createStudyGetRequest(studyUid);
    request.on('response', (response: dimse.responses.CGetResponse) => {
      failed = response.getFailures() ?? failed;
    });
    client.on('cStoreRequest', (store: dimse.requests.CStoreRequest, callback) => {
      received.push(store.getDataset()?.getElements() ?? {});
      const response = responses.CStoreResponse.fromRequest(store);
      response.setStatus(Status.Success);
      callback(response);
    });
    client.addRequest(request);
  });
  return { received, failed };
}
