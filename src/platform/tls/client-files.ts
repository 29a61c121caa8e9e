import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** Files in PEM format for connections on which we are the client. */
export interface ClientFiles {
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
}

/** The content of these files. */
interface ClientPems {
  ca: Buffer | undefined;
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

type Report = (error: unknown, files: ClientFiles) => void;

/**
 * Reads the files of client connections. Keeps the last content that could be used, because a
 * certificate and its key do not match while they are being replaced one after the other.
 */
export class ClientCertificates {
  readonly #report: Report;
  /** The last content that could be used and the last reported error, by the names of the files. */
  readonly #known = new Map<string, { pems: ClientPems; reported: string }>();

  /** @param report called once for each error that prevents the use of new content. */
  constructor(report: Report = () => {}) {
    this.#report = report;
  }

  /**
   * Returns the content of the files, or the last content that could be used.
   * @throws the system error or the OpenSSL error if the files cannot be used and no usable content
   * of them is known from an earlier call.
   */
  async read(files: ClientFiles): Promise<ClientPems> {
    const { caFile, certFile, keyFile } = files;
    const name = JSON.stringify([caFile, certFile, keyFile]);
    const last = this.#known.get(name);
    try {
      const [ca, cert, key] = await Promise.all(
        [caFile, certFile, keyFile].map((file) =>
          file === undefined ? undefined : readFile(file),
        ),
      );
      const pems = { ca, cert, key };
      if (last && isSame(last.pems, pems)) {
        last.reported = '';
        return last.pems;
      }
      // Throws if the certificate and the key do not match.
      createSecureContext(pems);
      this.#known.set(name, { pems, reported: '' });
      return pems;
    } catch (error) {
      if (!last) throw error;
      if (last.reported !== String(error)) this.#report(error, files);
      last.reported = String(error);
      return last.pems;
    }
  }
}

const isSame = (one: ClientPems, other: ClientPems): boolean =>
  (['ca', 'cert', 'key'] as const).every((part) => {
    const [before, now] = [one[part], other[part]];
    return before === undefined || now === undefined ? before === now : before.equals(now);
  });
