import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, startListening } from './dcmtk.ts';
import { freePort } from './free-port.ts';

const PROGRAM = ['/usr/sbin/Orthanc', '/usr/bin/Orthanc'].find((path) => existsSync(path));

export const ORTHANC_INSTALLED = PROGRAM !== undefined;

/** Orthanc's DICOMweb plugin, a separate Debian package. */
const DICOMWEB_PLUGIN = '/usr/share/orthanc/plugins/libOrthancDicomWeb.so';
export const ORTHANC_DICOMWEB_INSTALLED = existsSync(DICOMWEB_PLUGIN);

export interface Orthanc {
  aeTitle: string;
  dicomPort: number;
  /** Address of the REST interface. */
  url: string;
  instances(): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/**
 * Starts a separate Orthanc on free ports. Returns null if it is not installed.
 * @param dicomWeb enables the DICOMweb plugin, under `/dicom-web/` of `url`.
 * @param settings entries of the configuration file, overriding the tests' defaults.
 * @param lua a script for Orthanc to run.
 */
export async function startOrthanc({
  dicomWeb = false,
  settings = {},
  lua,
}: {
  dicomWeb?: boolean;
  settings?: Record<string, unknown>;
  lua?: string;
} = {}): Promise<Orthanc | null> {
  if (!PROGRAM) return null;
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-orthanc-'));
  await mkdir(join(folder, 'storage'));
  const httpPort = await freePort();
  const configFile = join(folder, 'orthanc.json');
  const luaFile = join(folder, 'script.lua');
  if (lua) writeFileSync(luaFile, lua);
  const program: Program = await startListening(PROGRAM, (dicomPort) => {
    const everyTest = {
      Name: 'test',
      StorageDirectory: join(folder, 'storage'),
      IndexDirectory: join(folder, 'storage'),
      Plugins: dicomWeb ? [DICOMWEB_PLUGIN] : [],
      LuaScripts: lua ? [luaFile] : [],
      DicomAet: 'ORTHANC',
      DicomPort: dicomPort,
      HttpPort: httpPort,
      RemoteAccessAllowed: false,
      AuthenticationEnabled: false,
      DicomAlwaysAllowStore: true,
      DicomAlwaysAllowFind: true,
      DicomAlwaysAllowGet: true,
    };
    // Orthanc reads this file at startup, so it must exist by then.
    writeFileSync(configFile, JSON.stringify({ ...everyTest, ...settings }));
    return [configFile];
  });
  const url = `http://127.0.0.1:${httpPort}`;
  const get = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
  return {
    aeTitle: 'ORTHANC',
    dicomPort: program.port,
    url,
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
