import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Measurement, Result } from '../../pipelines/result/envelope.ts';
import { resultSchema } from '../../pipelines/result/envelope.ts';
import type { RequestObject } from '../../src/core/requests/view.ts';
import type { ReviewObject } from '../../src/core/reviews/reviews.ts';
import { PATIENT, type PhantomFiles, phantomFiles } from '../gateway/phantom.ts';
import {
  allDelivered,
  deliveries,
  endOfStudy,
  openSite,
  type Site,
  waitUntil,
} from '../gateway/site.ts';
import { asFile, dciodvfy, PYTHON, run } from '../pipelines/artifacts/programs.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startStorescp } from './dcmtk.ts';
import { type FhirTestServer, startFhirServer } from './fhir-server.ts';
import { ORTHANC_INSTALLED, type Orthanc, startOrthanc } from './orthanc.ts';

const PATIENT_SYSTEM = 'urn:oid:1.2.3';
const READER = 'Dr Ada Reader';
const TYPED_FEMUR_MM = 40.4;

/**
 * Includes the folder into which `.ci/run` installs highdicom, which is separate from Debian's
 * older pydicom.
 */
const env = {
  ...process.env,
  PYTHONPATH: fileURLToPath(new URL('../../.ci/highdicom', import.meta.url)),
};
const python = (script: string, args: readonly string[] = []) =>
  spawnSync(PYTHON, ['-c', script, ...args], { env, encoding: 'utf8', timeout: 120_000 });
const PEERS_INSTALLED =
  DCMTK_INSTALLED && ORTHANC_INSTALLED && python('import highdicom').status === 0;

/** Reads an SR with pydicom and highdicom, and prints its header and each NUM with its equation. */
const READ = `
import sys, json, pydicom, highdicom as hd
document = pydicom.dcmread(sys.argv[1])
nums, texts = [], []
def walk(items):
    for item in items:
        meaning = item.ConceptNameCodeSequence[0].CodeMeaning if 'ConceptNameCodeSequence' in item else None
        inner = item.get('ContentSequence', [])
        if item.ValueType == 'NUM':
            value = item.MeasuredValueSequence
            names = [i.ConceptNameCodeSequence[0].CodeMeaning for i in inner if 'ConceptNameCodeSequence' in i]
            nums.append({'name': meaning, 'value': float(value[0].NumericValue) if len(value) else None, 'items': names})
        if item.ValueType == 'TEXT':
            texts.append(str(item.TextValue))
        walk(inner)
walk(document.ContentSequence)
# highdicom 0.28.2 cannot read a NUM without a value, which PS3.3 C.18.1 allows; it reads the rest.
def measured(items):
    return [i for i in items if i.ValueType != 'NUM' or len(i.MeasuredValueSequence)]
def prune(item):
    if 'ContentSequence' in item:
        item.ContentSequence = measured(item.ContentSequence)
        for inner in item.ContentSequence:
            prune(inner)
former = [
    sop.ReferencedSOPInstanceUID
    for document_ in document.get('PredecessorDocumentsSequence', [])
    for series in document_.ReferencedSeriesSequence
    for sop in series.ReferencedSOPSequence
]
prune(document)
document.save_as(sys.argv[1] + '.measured')
whole = hd.sr.srread(sys.argv[1] + '.measured')
print(json.dumps({
    'verified': whole.VerificationFlag,
    'verification': document.VerificationFlag,
    'preliminary': document.PreliminaryFlag,
    'observers': [[str(o.VerifyingObserverName), o.VerifyingOrganization] for o in document.VerifyingObserverSequence],
    'former': former,
    'nums': nums,
    'texts': texts,
}))
`;

interface ReadBack {
  /** Verification flag as highdicom reads it. */
  verified: string;
  verification: string;
  preliminary: string;
  observers: [string, string][];
  /** SOP Instance UIDs of the predecessor documents. */
  former: string[];
  nums: { name: string; value: number | null; items: string[] }[];
  texts: string[];
}

describe.skipIf(!PEERS_INSTALLED)('a signed result', () => {
  let orthanc: Orthanc;
  /** An archive that receives only signed documents. */
  let archive: Program & { folder: string };
  let archivedDrafts: number;
  let ehr: FhirTestServer;
  let site: Site;
  let study: PhantomFiles;
  let requestId: string;
  let signed: Result;
  /** The SR documents in Orthanc by SOP Instance UID. */
  const held = new Map<string, { tags: Record<string, unknown>; bytes: Buffer }>();

  const call = async (
    path: string,
    init: { method?: string; etag?: string; body?: unknown } = {},
  ) => {
    const { key } = await site.gateway.run('keys.create', {
      name: READER,
      scopes: ['read', 'review', 'sign'],
    });
    const answer = await fetch(
      `${site.gateway.http?.url}/v1/requests/${requestId}${path && `/${path}`}`,
      {
        method: init.method ?? 'GET',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          ...(init.etag && { 'If-Match': init.etag }),
        },
        ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
      },
    );
    expect(answer.status, await answer.clone().text()).toBe(200);
    return (await answer.json()) as ReviewObject;
  };
  const readSr = async () => {
    const ids = (await (await fetch(`${orthanc.url}/instances`)).json()) as string[];
    for (const id of ids) {
      const tags = await fetch(`${orthanc.url}/instances/${id}/simplified-tags`);
      const file = await fetch(`${orthanc.url}/instances/${id}/file`);
      const own = (await tags.json()) as Record<string, unknown>;
      held.set(String(own.SOPInstanceUID), {
        tags: own,
        bytes: Buffer.from(await file.arrayBuffer()),
      });
    }
  };
  const srOf = (sopClass: string, flag: string, but: readonly unknown[] = []) => {
    const found = [...held.values()].filter(
      ({ tags }) =>
        tags.SOPClassUID === sopClass &&
        tags.VerificationFlag === flag &&
        !but.includes(tags.SOPInstanceUID),
    );
    expect(found, `${flag} of ${sopClass}`).toHaveLength(1);
    return found[0] as { tags: Record<string, unknown>; bytes: Buffer };
  };
  const readBack = (bytes: Buffer): ReadBack => {
    const { stdout, stderr } = python(READ, [asFile(bytes, 'dcm')]);
    expect(stderr).not.toContain('Traceback');
    return JSON.parse(stdout) as ReadBack;
  };
  const archived = async () =>
    Promise.all(
      (await readdir(archive.folder)).map((name) => readFile(join(archive.folder, name))),
    );
  const idOf = (key: string, { measurements }: Result) =>
    measurements.find(({ concept, standing }) => concept.key === key && standing === 'counts')?.id;

  beforeAll(async () => {
    const started = await startOrthanc();
    if (!started) throw new Error('Orthanc did not start');
    orthanc = started;
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-archive-'));
    archive = { ...(await startStorescp(folder)), folder };
    ehr = await startFhirServer();
    await ehr.put({
      resourceType: 'Patient',
      identifier: [{ system: PATIENT_SYSTEM, value: PATIENT.patientId }],
      name: [{ family: 'Phantom', given: ['Ward'] }],
      birthDate: '1993-04-05',
      gender: 'female',
    });
    const host = '127.0.0.1';
    site = await openSite({
      review: { organization: 'Ward Clinic' },
      destinations: [
        {
          type: 'dicom',
          name: 'pacs',
          host,
          port: orthanc.dicomPort,
          aeTitle: 'ORTHANC',
          rejectionNotes: true,
        },
        {
          type: 'dicom',
          name: 'archive',
          host,
          port: archive.port,
          aeTitle: 'ARCHIVE',
          objects: ['sr-tid1500'],
          release: 'after-signature',
        },
        {
          type: 'fhir',
          name: 'ehr',
          baseUrl: ehr.baseUrl,
          resultSystem: 'https://ward.example/fhir/result',
          patientIdentifierSystems: { '*': PATIENT_SYSTEM },
        },
      ],
      routing: {
        rules: [
          {
            name: 'obstetric',
            when: { modality: 'US' },
            run: { endpoint: 'us/obstetric/interpret', options: { report: true } },
            deliverTo: ['pacs', 'archive', 'ehr'],
          },
        ],
      },
    });
    study = await phantomFiles('signed');
    const sent = await dcmtk('storescu', [
      ...['-aec', 'SONOGATE', host, String(site.dicomPort)],
      ...study.paths,
    ]);
    expect(sent, sent.output).toMatchObject({ exitCode: 0 });
    const row = await endOfStudy(site, study.studyUid);
    expect(row, JSON.stringify(row.fault)).toMatchObject({ status: 'succeeded' });
    requestId = row.id;
    await allDelivered(site);
    archivedDrafts = (await readdir(archive.folder)).length;

    const draft = await call('review');
    const changes = [
      { kind: 'set-value', measurement: idOf('fl', draft.result), value: TYPED_FEMUR_MM },
      { kind: 'reject', measurement: idOf('ac', draft.result) },
    ];
    const { etag } = await call('review', { method: 'PATCH', etag: draft.etag, body: { changes } });
    await call('sign', { method: 'POST', etag, body: {} });
    await allDelivered(site);
    signed = resultSchema.parse(await site.gateway.core.result(requestId));
    await readSr();
  }, 480_000);

  afterAll(async () => {
    await site?.close();
    await ehr?.close();
    await orthanc?.stop();
    await archive?.stop();
    if (archive) await rm(archive.folder, { recursive: true, force: true });
    if (study) await rm(study.folder, { recursive: true, force: true });
  });

  it('goes to each receiver again, in addition to the draft', async () => {
    const rows = await deliveries(site);
    const count = (destination: string) =>
      rows.filter((row) => row.destination === destination).length;
    expect(count('ehr')).toBe(2);
    expect(held.size).toBe(count('pacs'));
  });

  it.each([
    ['TID 1500', '1.2.840.10008.5.1.4.1.1.88.34'],
    ['TID 5000', '1.2.840.10008.5.1.4.1.1.88.33'],
  ])("is in Orthanc as %s, verified, with the reader's values", (_, sopClass) => {
    const draft = srOf(sopClass, 'UNVERIFIED');
    const final = srOf(sopClass, 'VERIFIED');
    const read = readBack(final.bytes);
    expect(read).toMatchObject({
      verified: 'VERIFIED',
      verification: 'VERIFIED',
      preliminary: 'FINAL',
      observers: [[`${READER}^`, 'Ward Clinic']],
      former: [draft.tags.SOPInstanceUID],
    });
    const femurs = read.nums.filter(({ name, value }) => /femur/i.test(name) && value !== null);
    expect(femurs.length).toBeGreaterThan(0);
    for (const femur of femurs) {
      expect(femur.value).toBe(TYPED_FEMUR_MM);
      // It is unknown how the reader measured this value.
      expect(femur.items).not.toContain('Equation Citation');
      expect(femur.items).not.toContain('Equation');
    }
    const abdomen = read.nums.filter(({ name }) => /abdom/i.test(name) && /circ/i.test(name));
    expect(abdomen.filter(({ value }) => value !== null)).toEqual([]);
    expect(read.texts.filter((text) => /AI draft|not verified|unverified/i.test(text))).toEqual([]);
  });

  it.each([
    ['TID 1500', '1.2.840.10008.5.1.4.1.1.88.34'],
    ['TID 5000', '1.2.840.10008.5.1.4.1.1.88.33'],
  ])('is a valid document to dciodvfy and dsrdump as %s', (_, sopClass) => {
    const path = asFile(srOf(sopClass, 'VERIFIED').bytes, 'dcm');
    expect(dciodvfy(path).complaints).toEqual([]);
    const { code, output } = run('dsrdump', [path]);
    expect({ code, errors: output.match(/^[EF]: .*/gm) }).toEqual({ code: 0, errors: null });
    expect(output).toContain('VERIFIED');
    expect(output).toContain(READER);
  });

  it('is the final report in the EHR, with no preliminary part left', async () => {
    const [report, ...others] = await ehr.all('DiagnosticReport');
    expect(others).toEqual([]);
    expect(report).toMatchObject({ status: 'final' });
    expect(report?.conclusion).not.toMatch(/AI draft/);
    expect(report?.resultsInterpreter ?? report?.performer).toMatchObject([{ display: READER }]);
    const observations = await ehr.all('Observation');
    const current = observations.filter(({ status }) => status !== 'entered-in-error');
    expect(current.length).toBeGreaterThan(0);
    expect(new Set(current.map(({ status }) => status))).toEqual(new Set(['final']));
    const femur = current.find(({ valueQuantity }) => valueQuantity?.value === TYPED_FEMUR_MM);
    expect(femur).toMatchObject({ valueQuantity: { unit: 'mm' } });
    expect(femur?.method).toBeUndefined();
    expect(femur?.meta?.security ?? []).toEqual([]);
    const documents = await ehr.all('DocumentReference');
    const open = documents.filter(({ status }) => status === 'current');
    expect(open.map(({ docStatus }) => docStatus)).toEqual(['final']);
    expect(JSON.stringify([current, report, open])).not.toMatch(/AI draft/);
    const pictures = (await ehr.all('Media')).filter(({ status }) => status === 'completed');
    expect(JSON.stringify(pictures)).not.toMatch(/AI draft/);
  });

  it('goes to the archive of signed documents only after the signature, and replaces nothing there', async () => {
    expect(archivedDrafts).toBe(0);
    const [document, ...others] = await archived();
    expect(others).toEqual([]);
    if (!document) throw new Error('the archive has no document');
    expect(readBack(document)).toMatchObject({ verified: 'VERIFIED', former: [] });
    const rows = (await deliveries(site)).filter(({ destination }) => destination === 'archive');
    expect(rows.map(({ result_revision: revision }) => revision)).toEqual([1]);
  });

  it('concludes nothing from the value that was rejected', () => {
    const of = (key: string): Measurement[] =>
      signed.measurements.filter(({ concept }) => concept.key === key);
    expect(of('ac').map(({ standing }) => standing)).toEqual(['withheld']);
    expect(of('fl').some(({ value }) => value === TYPED_FEMUR_MM)).toBe(true);
  });

  describe('and amended later', () => {
    const AMENDED_FEMUR_MM = 41.2;
    const TID_1500 = '1.2.840.10008.5.1.4.1.1.88.34';
    let first: { tags: Record<string, unknown>; bytes: Buffer };

    beforeAll(async () => {
      first = srOf(TID_1500, 'VERIFIED');
      const before = await call('review');
      const changes = [
        { kind: 'set-value', measurement: idOf('fl', before.result), value: AMENDED_FEMUR_MM },
      ];
      const body = { changes, amend: true };
      const { etag } = await call('review', { method: 'PATCH', etag: before.etag, body });
      expect(await call('sign', { method: 'POST', etag, body: {} })).toMatchObject({
        state: 'amended',
        signed_revision: 2,
      });
      await allDelivered(site);
      await readSr();
    }, 480_000);

    it('is a further document in Orthanc, whose predecessor is the first signed one', () => {
      const former = first.tags.SOPInstanceUID;
      const read = readBack(srOf(TID_1500, 'VERIFIED', [former]).bytes);
      expect(read).toMatchObject({ verification: 'VERIFIED', former: [former] });
      const femurs = read.nums.filter(({ name, value }) => /femur/i.test(name) && value !== null);
      expect(new Set(femurs.map(({ value }) => value))).toEqual(new Set([AMENDED_FEMUR_MM]));
    });

    it('replaces the first signed document in the archive of signed documents', async () => {
      const read = (await archived()).map(readBack).map(({ former }) => former);
      expect(read).toHaveLength(2);
      expect(read).toContainEqual([first.tags.SOPInstanceUID]);
    });

    it('is the amended report in the EHR, and the only current document', async () => {
      const [report, ...others] = await ehr.all('DiagnosticReport');
      expect(others).toEqual([]);
      expect(report).toMatchObject({ status: 'amended' });
      const observations = await ehr.all('Observation');
      const current = observations.filter(({ status }) => status !== 'entered-in-error');
      expect(new Set(current.map(({ status }) => status))).toEqual(new Set(['amended']));
      const femurs = current.filter(({ valueQuantity }) => valueQuantity?.unit === 'mm');
      expect(femurs.map(({ valueQuantity }) => valueQuantity?.value)).toContain(AMENDED_FEMUR_MM);
      expect(femurs.map(({ valueQuantity }) => valueQuantity?.value)).not.toContain(TYPED_FEMUR_MM);
      const documents = await ehr.all('DocumentReference');
      const open = documents.filter(({ status }) => status === 'current');
      expect(open.map(({ docStatus }) => docStatus)).toEqual(['amended']);
      const former = documents.filter(({ status }) => status === 'superseded');
      expect(former.length).toBe(documents.length - 1);
    });
  });

  describe('and withdrawn at last', () => {
    const receivers = async () => {
      const request = (await call('')) as unknown as RequestObject;
      return Object.fromEntries(
        (request.withdrawal?.receivers ?? []).map(({ destination, state }) => [destination, state]),
      );
    };
    let stored: Record<string, unknown>[];
    let note: Record<string, unknown>;

    beforeAll(async () => {
      stored = await orthanc.instances();
      const body = { reason: 'wrong-patient', text: 'Images of the next patient' };
      expect(await call('withdraw', { method: 'POST', body })).toMatchObject({
        withdrawal: { by: READER, reason: 'wrong-patient' },
      });
      const ended = await waitUntil('every receiver has ended', async () => {
        const states = await receivers();
        return Object.values(states).includes('pending') ? null : states;
      });
      expect(ended).toEqual({ archive: 'by_hand', ehr: 'withdrawn', pacs: 'withdrawn' });
      const known = new Set(stored.map(({ SOPInstanceUID }) => SOPInstanceUID));
      const added = (await orthanc.instances()).filter(
        ({ SOPInstanceUID }) => !known.has(SOPInstanceUID),
      );
      expect(added).toHaveLength(1);
      note = added[0] ?? {};
    }, 120_000);

    it('is rejected in Orthanc for patient safety, with every document of all its revisions', () => {
      expect(note).toMatchObject({
        Modality: 'KO',
        PatientID: PATIENT.patientId,
        StudyInstanceUID: study.studyUid,
        ConceptNameCodeSequence: [{ CodeValue: '113037', CodingSchemeDesignator: 'DCM' }],
      });
      const [evidence] = note.CurrentRequestedProcedureEvidenceSequence as [
        { ReferencedSeriesSequence: { ReferencedSOPSequence: Record<string, string>[] }[] },
      ];
      const rejected = evidence.ReferencedSeriesSequence.flatMap((series) =>
        series.ReferencedSOPSequence.map((sop) => sop.ReferencedSOPInstanceUID),
      );
      expect(rejected.toSorted()).toEqual(
        stored.map(({ SOPInstanceUID }) => String(SOPInstanceUID)).toSorted(),
      );
    });

    it('is entered-in-error in the EHR, with every part', async () => {
      const live = [
        ...(await ehr.all('DiagnosticReport')),
        ...(await ehr.all('Observation')),
        ...(await ehr.all('Media')),
        ...(await ehr.all('DocumentReference')),
      ].filter(({ status }) => status !== 'entered-in-error' && status !== 'superseded');
      expect(live).toEqual([]);
    });

    it('is followed by a new report when the study is interpreted again', async () => {
      await site.gateway.run('studies.rerun', { study: study.studyUid });
      const finished = async () => {
        const found = await site.gateway.run('studies.explain', { study: study.studyUid });
        return found.requests.map(({ status }) => status);
      };
      await expect.poll(finished, { timeout: 240_000 }).toEqual(['succeeded', 'succeeded']);
      const reports = async () => (await ehr.all('DiagnosticReport')).map(({ status }) => status);
      await expect
        .poll(async () => (await reports()).toSorted(), { timeout: 60_000 })
        .toEqual(['entered-in-error', 'preliminary']);
      expect((await deliveries(site)).filter(({ state }) => state === 'dead')).toMatchObject([
        { destination: 'archive', object: 'withdrawal', code: 'withdrawal_by_hand' },
      ]);
    }, 300_000);
  });
});
