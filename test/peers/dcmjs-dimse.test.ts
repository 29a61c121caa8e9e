import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { STORAGE_CLASS } from '../../pipelines/dicom/sop-classes.ts';
import { type PhantomFiles, phantomFiles } from '../gateway/phantom.ts';
import { endOfStudy, openSite, type Site, waitUntil } from '../gateway/site.ts';
import {
  type DcmjsNode,
  type Elements,
  findByDcmjs,
  getByDcmjs,
  startDcmjsNode,
  storeByDcmjs,
} from './dcmjs-dimse.ts';

const CALLER = 'DCMJS';

describe('dcmjs-dimse as the cart, the PACS and a workstation', () => {
  let pacs: DcmjsNode;
  let site: Site;
  let study: PhantomFiles;
  /** Stored in Explicit VR, as carts do. */
  let earlier: PhantomFiles;
  let stored: number[];

  const node = () => ({ port: site.dicomPort, callingAeTitle: CALLER });
  const ofClass = (uid: string): Elements[] =>
    pacs.received.filter(({ SOPClassUID }) => SOPClassUID === uid);

  beforeAll(async () => {
    pacs = await startDcmjsNode();
    // The first responses are "out of resources", so the gateway has to retry.
    pacs.answer(0xa700);
    site = await openSite({
      destinations: [
        {
          ...{
            type: 'dicom',
            name: 'pacs',
            host: '127.0.0.1',
            port: pacs.port,
            aeTitle: 'DCMJSPACS',
          },
          objects: ['sr-tid1500'],
        },
      ],
      queryRetrieve: { callers: [{ callingAeTitles: [CALLER], addresses: ['127.0.0.1'] }] },
      routing: {
        rules: [
          {
            name: 'obstetric',
            run: { endpoint: 'us/obstetric/interpret', options: {} },
            deliverTo: ['pacs'],
            forwardTo: ['pacs'],
          },
        ],
      },
    });
    study = await phantomFiles('dcmjs-dimse');
    stored = await storeByDcmjs(node(), study.paths);
    await endOfStudy(site, study.studyUid);
    pacs.answer(0);
    earlier = await phantomFiles('dcmjs-dimse earlier', { studyDate: '20251215' });
    const here = { host: '127.0.0.1', port: site.dicomPort, aeTitle: 'SONOGATE' };
    await sendFiles({ ...here, callingAeTitle: 'CART', timeoutSeconds: 30 }, earlier.paths);
    await waitUntil('the report to arrive', async () =>
      ofClass(STORAGE_CLASS.comprehensive3dSr).length > 0 ? true : null,
    );
  }, 240_000);

  afterAll(async () => {
    await site?.close();
    pacs?.stop();
    for (const made of [study, earlier]) {
      if (made) await rm(made.folder, { recursive: true, force: true });
    }
  });

  it('stores a study here', () => {
    expect(stored).toEqual([0, 0, 0]);
  });

  it('receives the images as they were sent, after refusing them for a while', () => {
    const images = ofClass(STORAGE_CLASS.ultrasound);
    expect(images.map(({ SOPInstanceUID }) => SOPInstanceUID).sort()).toEqual(
      [...study.sopInstanceUids].sort(),
    );
    expect(images[0]).toMatchObject({ PatientID: 'WARD-7', AccessionNumber: 'ACC7' });
  });

  it('receives the structured report of the study, with a tree that it can read', () => {
    const [report] = ofClass(STORAGE_CLASS.comprehensive3dSr);
    expect(report).toMatchObject({ StudyInstanceUID: study.studyUid, PatientID: 'WARD-7' });
    expect(report?.ContentSequence).not.toHaveLength(0);
  });

  it('finds the study', async () => {
    const keys = { PatientID: 'WARD-7', StudyDate: '20260115', StudyInstanceUID: '' };
    const found = await findByDcmjs(node(), keys);
    expect(found.map(({ StudyInstanceUID }) => StudyInstanceUID)).toEqual([study.studyUid]);
  });

  it('gets a study over its own association', async () => {
    const { received, failed } = await getByDcmjs(node(), earlier.studyUid);
    expect(received.map(({ SOPInstanceUID }) => SOPInstanceUID).sort()).toEqual(
      [...earlier.sopInstanceUids].sort(),
    );
    expect(failed).toBe(0);
  });

  // This node stores in Implicit VR. For C-GET it offers both VRs in one context, and Explicit VR
  // is accepted.
  it('gets what it stored in Implicit VR, converted to the accepted Explicit VR', async () => {
    const { received, failed } = await getByDcmjs(node(), study.studyUid);
    expect(failed).toBe(0);
    expect(received.map(({ SOPInstanceUID }) => SOPInstanceUID).sort()).toEqual(
      [...study.sopInstanceUids].sort(),
    );
    expect(received[0]).toMatchObject({ PatientID: 'WARD-7', AccessionNumber: 'ACC7' });
  });

  it('is rejected when it calls a title that is not ours', async () => {
    const nobody = { ...node(), calledAeTitle: 'NOBODY' };
    // PS3.8 table 9-21: called AE title not recognized.
    await expect(storeByDcmjs(nobody, study.paths)).rejects.toThrow(
      'called AE title not recognized (1/1/7)',
    );
  });
});
