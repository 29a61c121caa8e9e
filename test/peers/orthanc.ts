import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, startListening } from './dcmtk.ts';
import { freePort } from './free-port.ts';

const PROGRAM = ['/usr/sbin/Orthanc', '/usr/bin/Orthanc'].find((path) => existsSync(path));

export const ORTHANC_INSTALLED = PROGRAM !== undefined;

export interface Orthanc {
  aeTitle: string;
  dicomPort: number;
  /** Simplified tags of every instance it holds. */
  instances(): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** An Orthanc of its own on free ports, without plugins; null where it is not installed. */
export async function startOrthanc(): Promise<Orthanc | null> {
  if (!PROGRAM) return null;
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-orthanc-'));
  await mkdir(join(folder, 'storage'));
  const httpPort = await freePort();
  const configFile = join(folder, 'orthanc.json');
  const program: Program = await startListening(PROGRAM, (dicomPort) => {
    const settings = {
      Name: 'test',
      StorageDirectory: join(folder, 'storage'),
      IndexDirectory: join(folder, 'storage'),
      Plugins: [],
      DicomAet: 'ORTHANC',
      DicomPort: dicomPort,
      HttpPort: httpPort,
      RemoteAccessAllowed: false,
      AuthenticationEnabled: false,
      DicomAlwaysAllowStore: true,
    };
    // Orthanc reads its file at the start, so it must be there before the program runs.
    writeFileSync(configFile, JSON.stringify(settings));
    return [configFile];
  });
  const url = `http://127.0.0.1:${httpPort}`;
  const get = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
  return {
    aeTitle: 'ORTHANC',
    dicomPort: program.port,
    async instances() {
      const ids = (await get('/instances')) as string[];
      return Promise.all(
        ids.map(
          async (id) => (await get(`/instances/${id}/simplified-tags`)) as Record<string, unknown>,
        ),
      );
    },
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
