import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import dcmjs from 'dcmjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { STORAGE_CLASS } from '../../pipelines/dicom/sop-classes.ts';
import { COPY_OF_CACHE } from '../../src/core/queue/compile-cache.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startStorescp } from '../peers/dcmtk.ts';
import { IDENTIFYING, IMAGE_UID, image, report } from '../pipelines/deidentify/sample.ts';
import { deliveries, openSite, type Site, waitUntil } from './site.ts';

describe.skipIf(!DCMTK_INSTALLED)('a study that a rule sends without its identity', () => {
  let research: Program;
  let received = '';
  let folder = '';
  let site: Site;

  beforeAll(async () => {
    received = await mkdtemp(join(tmpdir(), 'sonogate-research-'));
    folder = await mkdtemp(join(tmpdir(), 'sonogate-cart-'));
    research = await startStorescp(received);
    site = await openSite({
      roles: ['dimse', 'delivery'],
      destinations: [
        {
          type: 'dicom',
          name: 'research',
          host: '127.0.0.1',
          port: research.port,
          aeTitle: 'RESEARCH',
          deidentification: {},
        },
      ],
      routing: { rules: [{ name: 'research', deidentifyTo: ['research'] }] },
    });
    const objects = {
      image: await image(),
      report: report(),
      unnamed: report({
        SOPInstanceUID: `${IMAGE_UID}.3`,
        PatientID: '',
        IssuerOfPatientID: 'HOSPITAL-OF-MERCY',
      }),
      page: await image({ sopInstanceUid: `${IMAGE_UID}.2`, header: { regions: [] } }),
    };
    const paths = Object.keys(objects).map((name) => join(folder, `${name}.dcm`));
    const files = Object.values(objects);
    await Promise.all(paths.map((path, index) => writeFile(path, files[index] as Buffer)));
    const { exitCode, output } = await dcmtk('storescu', [
      ...['-aec', 'SONOGATE', '127.0.0.1', String(site.dicomPort)],
      ...paths,
    ]);
    expect(exitCode, output).toBe(0);
    await waitUntil('every object to be sent or held', async () => {
      const rows = await deliveries(site);
      const ended = rows.filter(({ state }) => state === 'delivered' || state === 'dead');
      return ended.length === files.length ? true : null;
    });
  }, 180_000);

  afterAll(async () => {
    await site?.close();
    await research?.stop();
    for (const made of [received, folder]) await rm(made, { recursive: true, force: true });
  });

  it('arrives as copies without an identifying value in any byte', async () => {
    const names = await readdir(received);
    const files = await Promise.all(names.map((name) => readFile(join(received, name))));
    const classes = files.map((file) => decodeFileMeta(file).meta.sopClassUid).sort();
    const { ultrasound, comprehensiveSr } = STORAGE_CLASS;
    expect(classes).toEqual([ultrasound, comprehensiveSr, comprehensiveSr]);
    const all = Buffer.concat(files).toString('latin1').toUpperCase();
    // DCMTK writes the AE titles of the association into the file, but none from a cart.
    expect(IDENTIFYING.filter((value) => all.includes(value.toUpperCase()))).toEqual([]);
  });

  it('shows the same patient in all copies, whatever the objects state', async () => {
    const names = await readdir(received);
    const patients = await Promise.all(
      names.map(async (name) => {
        const file = Uint8Array.from(await readFile(join(received, name)));
        const { dict } = dcmjs.data.DicomMessage.readFile(file.buffer);
        return dcmjs.data.DicomMetaDictionary.naturalizeDataset(dict).PatientID;
      }),
    );
    expect(patients).toHaveLength(3);
    expect(new Set(patients).size).toBe(1);
  });

  it('leaves out a screen that cannot be blanked, with the reason for a person', async () => {
    const held = (await deliveries(site)).filter(({ state }) => state === 'dead');
    expect(held.map(({ kind, code, detail }) => ({ kind, code, detail }))).toEqual([
      {
        kind: 'deidentified',
        code: 'deidentification_held',
        detail: 'Held: its header does not say where on the screen the ultrasound is.',
      },
    ]);
  });

  it("leaves no copy on the gateway's disk", async () => {
    const place = join(site.config.dataDir, 'deidentification');
    const left = await readdir(place, { recursive: true, withFileTypes: true });
    const objects = left.filter(
      (entry) => entry.isFile() && !entry.parentPath.includes(`/${COPY_OF_CACHE}/`),
    );
    expect(objects).toEqual([]);
  });
});
