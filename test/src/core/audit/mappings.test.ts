import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { auditEvent } from '../../../../fhir/resources/audit-event.ts';
import type { AuditRow } from '../../../../src/core/audit/audit.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../../src/core/audit/audit.ts';
import { dicomAuditMessage } from '../../../../src/core/audit/dicom-message.ts';
import { factsOf } from '../../../../src/core/audit/facts.ts';
import { validationErrors } from '../../../fhir/validators.ts';
import { auditRow, SITE, SUBJECT } from './sample.ts';

const XMLLINT = '/usr/bin/xmllint';
const SCHEMA = fileURLToPath(new URL('./audit-message.rng', import.meta.url));
const ACTIONS = Object.keys(AUDIT_ACTIONS) as AuditAction[];
const IDENTIFIERS = {
  requestSystem: 'urn:sonogate:request',
  patientSystems: { HOSPITAL: 'urn:oid:1.2.3' },
};

const NODE = { actor: 'ae:CART', address: '10.20.30.7', detail: { objects: 3, note: 'a<b' } };
const CALL = { key_id: 'key_1', request_id: 'req_1', status: 404, call_id: 'c', outcome: null };
const facts = (action: AuditAction, over: Partial<AuditRow> = {}, subject = SUBJECT) =>
  factsOf(auditRow(action, over), subject, SITE);

describe('as a DICOM audit message', () => {
  test.skipIf(!existsSync(XMLLINT))('every action fits the schema of PS3.15 A.5.1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-audit-'));
    const files: string[] = [];
    for (const action of ACTIONS) {
      for (const over of [{}, NODE, CALL]) {
        const path = join(folder, `${files.length}.xml`);
        await writeFile(path, dicomAuditMessage(facts(action, over)));
        files.push(path);
      }
    }
    execFileSync(XMLLINT, ['--noout', '--relaxng', SCHEMA, ...files], { stdio: 'ignore' });
    const wrong = join(folder, 'wrong.xml');
    const message = dicomAuditMessage(facts('dicom.sent', NODE));
    await writeFile(
      wrong,
      message.replace('EventOutcomeIndicator="0"', 'EventOutcomeIndicator="1"'),
    );
    expect(() =>
      execFileSync(XMLLINT, ['--noout', '--relaxng', SCHEMA, wrong], { stdio: 'pipe' }),
    ).toThrow();
    await rm(folder, { recursive: true });
  });

  test('received objects go from the peer to us, with a patient and a study', () => {
    const message = dicomAuditMessage(facts('dicom.received', NODE));
    expect(message).toContain('csd-code="110104" codeSystemName="DCM"');
    expect(message).toMatch(
      /UserID="ae:CART" AlternativeUserID="AETITLES=CART" UserIsRequestor="true" NetworkAccessPointID="10.20.30.7" NetworkAccessPointTypeCode="2"><RoleIDCode csd-code="110153"/,
    );
    expect(message).toMatch(/UserIsRequestor="false"><RoleIDCode csd-code="110152"/);
    expect(message).toContain('ParticipantObjectID="P&lt;&quot;&amp;&gt;1^^^HOSPITAL"');
    expect(message).toContain('ParticipantObjectID="1.2.840.97.1"');
    expect(message).toContain(`value="${Buffer.from('a<b').toString('base64')}"`);
  });

  test('states an issuer that is a universal ID as such (CX.4)', () => {
    const subject = { ...SUBJECT, patientId: 'P1', issuerOfPatientId: '1.2.36.1' };
    const message = dicomAuditMessage(facts('dicom.received', NODE, subject));
    expect(message).toContain('ParticipantObjectID="P1^^^&amp;1.2.36.1&amp;ISO"');
  });

  test('a query goes from us to the archive, on behalf of the person who requested it', () => {
    const asked = { actor: 'person:rowan', detail: { archive: 'pacs', found: 2 } };
    const message = dicomAuditMessage(facts('dicom.query', asked));
    expect(message).toContain('csd-code="110112" codeSystemName="DCM"');
    expect(message).toContain('UserID="person:rowan" UserIsRequestor="true"');
    expect(message).toMatch(/UserIsRequestor="false"><RoleIDCode csd-code="110153"/);
    expect(message).toMatch(/UserID="node:pacs"[^>]*><RoleIDCode csd-code="110152"/);
    const alone = facts('dicom.query', { ...asked, actor: 'gateway' }).participants;
    expect(alone.map(({ isRequestor, role }) => [isRequestor, role])).toEqual([
      [true, 'source'],
      [false, 'destination'],
    ]);
  });

  test('a study that a peer retrieves goes from us to the peer, at the request of the peer', () => {
    const { participants } = facts('study.retrieve', NODE);
    expect(participants.map(({ id, isRequestor, role }) => [id, isRequestor, role])).toEqual([
      [SITE.hostName, false, 'source'],
      ['ae:CART', true, 'destination'],
    ]);
  });

  test.each(['delivery.replay', 'delivery.divert', 'delivery.close', 'webhook.redeliver'] as const)(
    '%s is requested by the person, who receives nothing',
    (action) => {
      const { participants } = facts(action, { actor: 'person:rowan' });
      expect(participants.map(({ id, isRequestor, role }) => [id, isRequestor, role])).toEqual([
        ['person:rowan', true, undefined],
        [SITE.hostName, false, 'application'],
      ]);
    },
  );

  test.each([
    [200, '0'],
    [399, '0'],
    [400, '4'],
    [499, '4'],
    [500, '8'],
  ])('a call answered with %i has the outcome %s', (status, outcome) => {
    expect(dicomAuditMessage(facts('request.read', { ...CALL, status }))).toContain(
      `EventOutcomeIndicator="${outcome}"`,
    );
  });
});

describe('as an AuditEvent', () => {
  test('every action is valid FHIR', () => {
    const shapes = [{}, NODE, CALL];
    const entry = ACTIONS.map((action, n) => {
      return { resource: auditEvent(facts(action, shapes[n % shapes.length]), IDENTIFIERS) };
    });
    expect(validationErrors({ resourceType: 'Bundle', type: 'collection', entry })).toEqual([]);
  });

  test("identifies the patient by the EHR's identifier", () => {
    const { entity } = auditEvent(facts('identity.view', { actor: 'person:nurse' }), IDENTIFIERS);
    expect(entity?.[0]).toMatchObject({
      what: { identifier: { system: 'urn:oid:1.2.3', value: SUBJECT.patientId } },
      role: { code: '1' },
    });
  });

  test.each([
    ['OTHER', undefined],
    ['', 'urn:oid:1.2.9'],
    ['constructor', undefined],
  ])(
    'gives a patient of the issuer %j the system %j, and none if the issuer is not mapped',
    (issuer, system) => {
      const subject = { ...SUBJECT, issuerOfPatientId: issuer };
      const patientSystems = { ...IDENTIFIERS.patientSystems, '*': 'urn:oid:1.2.9' };
      const { entity } = auditEvent(facts('identity.view', {}, subject), {
        ...IDENTIFIERS,
        patientSystems,
      });
      expect(entity?.[0]?.what?.identifier?.system).toBe(system);
    },
  );

  test('for a refused machine is a security alert with the address from which it called', () => {
    const event = auditEvent(facts('dicom.refused', { ...NODE, outcome: 'refused' }), IDENTIFIERS);
    expect(event).toMatchObject({
      type: { code: '110113' },
      subtype: [{ code: '110126' }],
      outcome: '4',
      agent: [
        { who: { display: 'ae:CART' }, requestor: true, network: { address: '10.20.30.7' } },
        { altId: 'SONOGATE', requestor: false },
      ],
    });
  });
});
