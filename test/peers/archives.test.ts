import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dicomObjects, type ObjectForms } from '../../pipelines/artifacts/dicom-objects.ts';
import { INTERGROWTH_CURVES } from '../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
import { sendForms } from '../dimse/send.ts';
import { RESULT } from '../pipelines/artifacts/example-result.ts';
import { SUBJECT } from '../pipelines/artifacts/example-subject.ts';
import { DCMTK_INSTALLED, dcmtk, startDcmqrscp } from './dcmtk.ts';
import { ORTHANC_INSTALLED, startOrthanc } from './orthanc.ts';

const DICOM_OBJECTS = dicomObjects(INTERGROWTH_CURVES);

const AE_TITLE = 'ARCHIVE';

/** An archive that can report how many objects of our study it has. */
interface Archive {
  port: number;
  /** Returns the number of objects of the study that are indexed. */
  held(): Promise<number>;
  stop(): Promise<void>;
}

async function orthanc(): Promise<Archive> {
  const started = await startOrthanc();
  if (!started) throw new Error('Orthanc is not installed');
  return {
    port: started.dicomPort,
    held: async () => (await started.instances()).length,
    stop: () => started.stop(),
  };
}

async function dcmqrscp(): Promise<Archive> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-dcmqrscp-'));
  const program = await startDcmqrscp(folder, AE_TITLE);
  return {
    port: program.port,
    async held() {
      const study = `StudyInstanceUID=${SUBJECT.identity?.StudyInstanceUID}`;
      const keys = ['-k', 'QueryRetrieveLevel=IMAGE', '-k', study];
      const within = ['-k', 'SeriesInstanceUID', '-k', 'SOPInstanceUID'];
      const target = ['-aec', AE_TITLE, '127.0.0.1', String(program.port)];
      const { output } = await dcmtk('findscu', ['-v', '-S', ...keys, ...within, ...target]);
      return output.match(/^I: Find Response: \d+ \(Pending\)/gm)?.length ?? 0;
    },
    async stop() {
      await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const ECHO: Result = { ...RESULT, endpoint: 'us/echo/interpret' };
const ROLES = [
  ['sr-tid1500', RESULT],
  ['sr-tid5000', RESULT],
  ['sr-echo', ECHO],
  ['seg', RESULT],
  ['key-objects', RESULT],
  ['pdf', RESULT],
  ['secondary-capture', RESULT],
  ['presentation-state', RESULT],
] as const satisfies readonly (readonly [keyof typeof DICOM_OBJECTS, Result])[];

describe.each([
  ['Orthanc', ORTHANC_INSTALLED, orthanc],
  ['dcmqrscp', DCMTK_INSTALLED, dcmqrscp],
] as const)('%s as PACS', (_name, isInstalled, start) => {
  describe.skipIf(!isInstalled)('accepts and indexes', () => {
    let archive: Archive;
    let folder = '';
    let preview = '';

    beforeAll(async () => {
      archive = await start();
      folder = await mkdtemp(join(tmpdir(), 'sonogate-archive-'));
      preview = join(folder, 'preview.png');
      const create = { width: 32, height: 18, channels: 3, background: '#204060' } as const;
      await sharp({ create }).toFile(preview);
    }, 60_000);
    afterAll(async () => {
      await archive?.stop();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    test.each(ROLES)('every %s', async (role, result) => {
      const forms: readonly ObjectForms[] = await DICOM_OBJECTS[role]({
        result,
        subject: SUBJECT,
        destination: { measurementSopClass: 'auto', segmentation: 'binary' },
        artifactPath: async () => preview,
      });
      expect(forms.length).toBeGreaterThan(0);
      const before = await archive.held();
      const node = {
        host: '127.0.0.1',
        port: archive.port,
        aeTitle: AE_TITLE,
        callingAeTitle: 'SONOGATE',
        timeoutSeconds: 20,
      };
      const results = await sendForms(node, forms);
      expect(results.map(({ outcome, detail }) => [outcome, detail])).toEqual(
        forms.map(() => ['stored', 'status 0000H']),
      );
      expect(await archive.held()).toBe(before + forms.length);
    });
  });
});
