import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dicomFile } from '../dimse/dicom-file.ts';
import { DCMTK_INSTALLED } from '../peers/dcmtk.ts';
import { cartNetwork } from './cart-network.ts';
import { dataSetSha256 } from './cart-studies.ts';
import type { Fault } from './faults.ts';
import type { SiteUnderFault } from './site-under-fault.ts';

const OBJECT_BYTES = 24_000_000;
const MEGABITS = 40;
/** A source that sends nothing for this many seconds is disconnected. */
const IDLE_SECONDS = 4;
const OBJECT = { sopInstanceUid: '1.2.840.97.1.1', studyInstanceUid: '1.2.840.97.1' };

/** A cart's cable is pulled while it sends an object of 24 MB. */
export const networkCut: Fault = {
  name: 'network cut in the middle of a PDU',
  done: 'the link of a cart in a network namespace goes down while it sends 24 MB, and comes back',
  async prepare() {
    if (!DCMTK_INSTALLED) return { impossible: 'DCMTK is not installed' };
    const network = await cartNetwork();
    if (!network) return { impossible: 'network namespaces are not permitted' };
    const cart = { range: network.range, idleTimeoutSeconds: IDLE_SECONDS };
    return { site: { cart }, network, remove: network.remove };
  },
  async strike(site, { network }) {
    if (!network) throw new Error('no network');
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-cut-'));
    const path = join(folder, 'large.dcm');
    // No rule matches this object; only its storage matters.
    const object = { ...OBJECT, modality: 'OT', pixels: Buffer.alloc(OBJECT_BYTES, 7) };
    await writeFile(path, dicomFile(object));
    const send = () =>
      network.start('storescu', [
        '-aec',
        'SONOGATE',
        network.gateway,
        String(site.dicomPort),
        path,
      ]);
    try {
      await network.throttle(MEGABITS);
      const first = send();
      const begun = await partial(site, (bytes) => bytes > OBJECT_BYTES / 10);
      await network.pull();
      first.kill('SIGKILL');
      await partial(site, (bytes) => bytes === 0);
      if ((await keptAs(site)).length > 0) throw new Error('half an object has a row');
      await network.plug();
      const [exitCode] = await once(send(), 'exit');
      const kept = await keptAs(site);
      if (exitCode !== 0 || !kept.includes(await dataSetSha256(path))) {
        throw new Error(`sent again it is not kept: storescu ended with ${exitCode}`);
      }
      const megabytes = (begun / 1e6).toFixed(1);
      return `cut after ${megabytes} of 24 MB, the part removed, no row; sent again it is kept whole`;
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/**
 * Number of polls of the intake. Together they last two minutes, because a busy machine needs time.
 */
const PATIENCE = 2400;

/**
 * Waits until the number of bytes received so far passes the check, and returns it. If several
 * objects are being received, the largest counts.
 */
async function partial(site: SiteUnderFault, passes: (bytes: number) => boolean): Promise<number> {
  for (let left = PATIENCE; left > 0; left -= 1) {
    const intake = join(site.dataDir, 'intake');
    const names = await readdir(intake, { recursive: true }).catch(() => []);
    const parts = names.filter((name) => name.endsWith('.part'));
    const sizes = await Promise.all(
      parts.map((name) =>
        stat(join(intake, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    // Objects from the regular traffic are small and disappear within moments.
    const large = sizes.filter((size) => size > OBJECT_BYTES / 20);
    const bytes = Math.max(0, ...large);
    if (passes(bytes)) return bytes;
    await delay(50);
  }
  throw new Error('the object that was cut off is not as expected in the intake');
}

async function keptAs(site: SiteUnderFault): Promise<string[]> {
  const rows = await site.query<{ path: string }>(
    'SELECT path FROM instances WHERE sop_instance_uid = $1',
    [OBJECT.sopInstanceUid],
  );
  return Promise.all(rows.map(({ path }) => dataSetSha256(join(site.dataDir, path))));
}
