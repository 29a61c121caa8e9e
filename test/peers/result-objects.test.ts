import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dicomObjects, type ObjectForms } from '../../pipelines/artifacts/dicom-objects.ts';
import { decode } from '../../pipelines/artifacts/sr/decode.ts';
import { INTERGROWTH_CURVES } from '../../pipelines/obstetric/growth/curves.ts';
import { sendForms } from '../dimse/send.ts';
import { RESULT } from '../pipelines/artifacts/example-result.ts';
import { SUBJECT } from '../pipelines/artifacts/example-subject.ts';
import { DCMTK_INSTALLED, type Program, startStorescp } from './dcmtk.ts';

const DICOM_OBJECTS = dicomObjects(INTERGROWTH_CURVES);

let folder = '';
let preview = '';
let pacs: Program;

beforeAll(async () => {
  if (!DCMTK_INSTALLED) return;
  folder = await mkdtemp(join(tmpdir(), 'sonogate-objects-'));
  preview = join(folder, 'preview.png');
  await sharp({ create: { width: 31, height: 17, channels: 3, background: '#204060' } }).toFile(
    preview,
  );
  pacs = await startStorescp(folder);
});
afterAll(async () => {
  await pacs?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const objects = async (
  role: keyof typeof DICOM_OBJECTS,
  segmentation: 'binary' | 'labelmap' = 'binary',
): Promise<ObjectForms[]> =>
  DICOM_OBJECTS[role]({
    result: RESULT,
    subject: SUBJECT,
    destination: { measurementSopClass: 'auto', segmentation },
    artifactPath: async () => preview,
  });

const send = (forms: readonly ObjectForms[]) =>
  sendForms(
    {
      host: '127.0.0.1',
      port: pacs.port,
      aeTitle: 'PACS',
      callingAeTitle: 'SONOGATE',
      timeoutSeconds: 10,
    },
    forms,
  );

const stored = async () => (await readdir(folder)).filter((name) => !name.endsWith('.png'));

describe.skipIf(!DCMTK_INSTALLED)('storescp as PACS accepts', () => {
  test.each([
    'sr-tid1500',
    'sr-tid5000',
    'seg',
    'key-objects',
    'pdf',
    'secondary-capture',
    'presentation-state',
  ] as const)('every %s', async (role) => {
    const forms = await objects(role);
    const before = (await stored()).length;
    const results = await send(forms);
    expect(forms.length).toBeGreaterThan(0);
    expect(results.map(({ outcome }) => outcome)).toEqual(forms.map(() => 'stored'));
    expect((await stored()).length).toBe(before + forms.length);
  });

  test('the BINARY form of a label map, whose class it does not know', async () => {
    const forms = await objects('seg', 'labelmap');
    const binary = forms.map((form) => decodeUid(form[1]));
    const results = await send(forms);
    expect(results.map(({ sopInstanceUid }) => sopInstanceUid)).toEqual(binary);
    expect(results.map(({ outcome }) => outcome)).toEqual(forms.map(() => 'stored'));
  });

  test('the Comprehensive 3D form of TID 1500, as it was sent', async () => {
    const [forms = []] = await objects('sr-tid1500');
    const uid = String(decode(forms[0] ?? Buffer.alloc(0)).header.SOPInstanceUID);
    const name = (await stored()).find((file) => file.includes(uid));
    const kept = await readFile(join(folder, name ?? ''));
    expect(decode(kept).header.SOPClassUID).toBe('1.2.840.10008.5.1.4.1.1.88.34');
  });
});

/** Returns the Media Storage SOP Instance UID (0002,0003) of a file. */
function decodeUid(file: Buffer | undefined): string {
  const bytes = file ?? Buffer.alloc(0);
  const at = bytes.indexOf(Buffer.from([2, 0, 3, 0, 0x55, 0x49]));
  const length = bytes.readUInt16LE(at + 6);
  return bytes.toString('latin1', at + 8, at + 8 + length).replace('\0', '');
}
