import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Config } from '../../../config/schema.ts';
import type { ListenerTls } from '../../../config/tls-schema.ts';
import { certificateEnds } from './certificates.ts';
import { type Finding, fault, inOneLine, ok } from './finding.ts';

const PATIENCE_MILLISECONDS = 3000;

/**
 * The ports that this process listens on, and the certificates that it shows there.
 * @param running whether a gateway runs on the data folder: then its ports must answer, else they must
 * be free.
 */
export async function checkDoors(config: Config, running: boolean): Promise<Finding[]> {
  const { roles, http, dicom, monitoring } = config;
  const doors = [
    ...(roles.includes('api') ? [{ what: 'HTTP port', ...http }] : []),
    ...(roles.includes('dimse') ? [{ what: 'DICOM port', ...dicom }] : []),
    ...(monitoring ? [{ what: 'monitoring port', tls: undefined, ...monitoring }] : []),
  ];
  const findings = await Promise.all(
    doors.map(async ({ what, host, port, tls }) => [
      // A free port is found at the start.
      ...(port === 0 ? [] : [await (running ? answers : isFree)(what, host, port)]),
      ...(tls ? await certificate(`certificate of the ${what}`, tls) : []),
    ]),
  );
  return findings.flat();
}

async function isFree(what: string, host: string, port: number): Promise<Finding> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return ok(what, `${host}:${port} is free`);
  } catch (error) {
    return fault(what, inOneLine(error));
  } finally {
    server.close();
  }
}

async function answers(what: string, host: string, port: number): Promise<Finding> {
  const local = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const socket = connect({ host: local, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    return ok(what, `${host}:${port} answers`);
  } catch (error) {
    return fault(what, `the gateway runs, but ${host}:${port}: ${inOneLine(error)}`);
  } finally {
    socket.destroy();
    socket.on('error', () => {});
  }
}

async function certificate(what: string, { certFile, keyFile }: ListenerTls): Promise<Finding[]> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    // Throws when the two are not of one pair.
    createSecureContext({ cert, key });
    return [certificateEnds(what, new Date(new X509Certificate(cert).validTo))];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}
