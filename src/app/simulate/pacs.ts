import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import dimse from 'dcmjs-dimse';
import { encodeFileMeta, type FileMeta } from '../../../pipelines/dicom/part10.ts';
import { isUid } from '../../../pipelines/dicom/uid.ts';

const { Dataset, Scp, constants, responses } = dimse;
const { PresentationContextResult, Status } = constants;

// Otherwise dcmjs-dimse writes every PDU to the console.
dimse.log.disableAll();

export interface StoredObject {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  callingAeTitle: string;
  path: string;
}

interface PacsOptions {
  /** Objects are stored here as `<SOP Instance UID>.dcm`. */
  folder: string;
  host: string;
  port: number;
  onObject?: (object: StoredObject) => void;
  /** Called if an association ends with an error. */
  onFailure?: (error: Error) => void;
}

export interface Pacs {
  port: number;
  close(): Promise<void>;
}

/**
 * Starts the PACS used by the demo, by `simulate pacs` and by the tests. It uses dcmjs-dimse, which
 * shares no code with `dimse/network/`. It accepts every SOP class in the first proposed transfer
 * syntax from any caller. The dcmjs-dimse `Server` would listen on all interfaces, so a server
 * bound to `host` passes its connections to the dcmjs-dimse `Scp`.
 */
export async function startPacs(options: PacsOptions): Promise<Pacs> {
  mkdirSync(options.folder, { recursive: true });
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const association = new PacsAssociation(socket, options);
    association.on('networkError', (error: Error) => {
      options.onFailure?.(error);
      socket.destroy();
    });
  });
  await once(server.listen(options.port, options.host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Milliseconds without a byte after which an association is closed. */
const IDLE_MILLISECONDS = 300_000;

class PacsAssociation extends Scp {
  readonly #options: PacsOptions;
  #titles = { sourceAeTitle: '', receivingAeTitle: '' };
  #incoming: IncomingFile | null = null;

  constructor(socket: Socket, options: PacsOptions) {
    super(socket, { connectTimeout: IDLE_MILLISECONDS });
    this.#options = options;
    this.on('close', () => this.#incoming?.discard());
  }

  override associationRequested(association: dimse.association.Association): void {
    this.#titles = {
      sourceAeTitle: association.getCallingAeTitle(),
      receivingAeTitle: association.getCalledAeTitle(),
    };
    for (const { context } of association.getPresentationContexts()) {
      context.setResult(PresentationContextResult.Accept, context.getTransferSyntaxUids()[0]);
    }
    this.sendAssociationAccept();
  }

  override cEchoRequest(
    request: dimse.requests.CEchoRequest,
    callback: (response: dimse.responses.CEchoResponse) => void,
  ): void {
    const response = responses.CEchoResponse.fromRequest(request);
    response.setStatus(Status.Success);
    callback(response);
  }

  override createStoreWritableStream(
    context: dimse.association.PresentationContext,
    request: dimse.requests.CStoreRequest,
  ): Writable {
    this.#incoming = new IncomingFile(this.#options.folder, {
      sopClassUid: request.getAffectedSopClassUid(),
      sopInstanceUid: request.getAffectedSopInstanceUid(),
      transferSyntax: context.getAcceptedTransferSyntaxUid() ?? '',
      ...this.#titles,
    });
    return this.#incoming;
  }

  /**
   * Returns an empty data set. The bytes are already in the file, and decoding them into elements
   * would change the object.
   */
  override createDatasetFromStoreWritableStream(
    _written: Writable,
    _context: dimse.association.PresentationContext,
    callback: (dataset: dimse.Dataset) => void,
  ): void {
    callback(new Dataset());
  }

  override cStoreRequest(
    request: dimse.requests.CStoreRequest,
    callback: (response: dimse.responses.CStoreResponse) => void,
  ): void {
    const response = responses.CStoreResponse.fromRequest(request);
    const { status, stored } = this.#incoming?.finish() ?? { status: Status.ProcessingFailure };
    this.#incoming = null;
    if (stored) this.#options.onObject?.(stored);
    response.setStatus(status);
    callback(response);
  }

  override associationReleaseRequested(): void {
    this.sendAssociationReleaseResponse();
  }

  override abort(): void {}
}

/** Status of C-STORE "Refused: Out of Resources" (PS3.4 table B.2-1). */
const OUT_OF_RESOURCES = 0xa700;

/**
 * Writes a data set to a file as it arrives, so that even a large object needs no memory. It writes
 * synchronously and never asks dcmjs-dimse to wait, because dcmjs-dimse 0.3.3 would then lose bytes
 * (docs/dicom.md).
 */
class IncomingFile extends Writable {
  readonly #meta: FileMeta;
  readonly #folder: string;
  readonly #partial: string;
  #file: number | null = null;
  /** The failure status; null while no write has failed. */
  #failure: number | null = null;

  constructor(folder: string, meta: FileMeta) {
    super({ highWaterMark: Number.MAX_SAFE_INTEGER });
    this.#folder = folder;
    this.#meta = meta;
    this.#partial = join(folder, `${randomUUID()}.part`);
    // The UID is checked because it becomes a file name.
    if (isUid(meta.sopInstanceUid)) this.#put(encodeFileMeta(meta));
    else this.#failure = Status.InvalidObjectInstance;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#put(bytes);
    done();
  }

  #put(bytes: Buffer): void {
    if (this.#failure !== null) return;
    try {
      this.#file ??= openSync(this.#partial, 'wx');
      writeFileSync(this.#file, bytes);
    } catch {
      this.#failure = OUT_OF_RESOURCES;
    }
  }

  /**
   * Completes the file.
   * @returns the status of the C-STORE, and the stored object.
   */
  finish(): { status: number; stored?: StoredObject } {
    if (this.#failure !== null) {
      this.discard();
      return { status: this.#failure };
    }
    const { sourceAeTitle, sopClassUid, sopInstanceUid, transferSyntax } = this.#meta;
    const path = join(this.#folder, `${sopInstanceUid}.dcm`);
    this.#close();
    renameSync(this.#partial, path);
    const stored = { sopClassUid, sopInstanceUid, transferSyntax, path };
    return { status: Status.Success, stored: { ...stored, callingAeTitle: sourceAeTitle } };
  }

  discard(): void {
    this.#close();
    rmSync(this.#partial, { force: true });
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
