import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHoldQueue, holdLedger } from '../../../fhir/deliver/holds.ts';
import { closeDelivery } from '../../../src/core/outbox/close.ts';
import {
  enqueueDeliveries,
  listDeliveries,
  replayDelivery,
  sendAgain,
} from '../../../src/core/outbox/deliveries.ts';
import { type Outbox, startOutbox } from '../../../src/core/outbox/outbox.ts';
import type { HoldOperations } from '../../../src/operations/operations.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { type Fault, type FhirTestServer, startFhirServer } from '../../peers/fhir-server.ts';
import { openSite, type Site } from '../../src/core/requests/site.ts';
import { delivererTo, destinationOf, PATIENT } from '../delivering.ts';
import { sampleSubject } from '../sample.ts';

/**
 * The outcome table (exchange 1.10), tested through the real outbox: whatever an EHR does with a
 * delivery, the result is either one report in the EHR, or an entry in the hold queue that states
 * the reason. Nothing is duplicated or lost.
 */

const HOUR = 3600;

let site: Site;
let ehr: FhirTestServer;
let outbox: Outbox;
let folder: string;
let holds: HoldOperations;

beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-faults-'));
  ehr = await startFhirServer();
  await site.database.query('DELETE FROM deliveries');
  await site.database.query('DELETE FROM destination_holds');
  const { database } = site;
  holds = holdQueue(HOUR);
  const destination = destinationOf(ehr, { timeoutSeconds: 1 });
  outbox = await startOutbox({
    database,
    deliverers: [delivererTo(destination, folder, { subjectOf, holds: holdLedger(database) })],
    config: {
      delivery: {
        retryBaseSeconds: 0.02,
        retryCapSeconds: 0.05,
        giveUpAfterHours: 1,
        breaker: { failures: 100, openSeconds: 1, longestOpenSeconds: 1 },
        alternateAfterMinutes: 1,
      },
    },
    logger: silentLogger,
  });
});
afterEach(async () => {
  await outbox.stop();
  await ehr.close();
  await rm(folder, { recursive: true });
});

const subjectOf = async (requestId: string) => sampleSubject(requestId);

/**
 * Creates the hold queue of a site that gives up on a released delivery after a number of seconds.
 */
function holdQueue(giveUpSeconds: number): HoldOperations {
  return createHoldQueue({
    database: site.database,
    subjectOf,
    sendAgain: (tx, id) => sendAgain(tx, id, ['dead', 'pending'], giveUpSeconds),
    close: closeDelivery,
  });
}

async function enqueue(): Promise<string> {
  const request = await site.submit();
  const target = { kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' } as const;
  await site.database.transaction((tx) => enqueueDeliveries(tx, request, [target], HOUR));
  return request;
}

/** Returns the id of the one held report, which is not on hold while it is being retried. */
function heldId(): Promise<string> {
  return vi.waitFor(async () => {
    const [held] = await holds.list();
    if (!held) throw new Error('no report is held');
    return held.id;
  }, 20_000);
}

/**
 * Runs deliveries until they settle. If the destination asked for a pause, the test records the
 * pause and lifts it instead of waiting.
 */
async function settled(request: string): Promise<{ state: string; heldBack: boolean }> {
  let heldBack = false;
  for (let left = 600; left > 0; left -= 1) {
    const [row] = await listDeliveries(site.database, { requestId: request });
    if (row && ['delivered', 'dead', 'closed'].includes(row.state)) {
      return { state: row.state, heldBack };
    }
    const lifted = await site.database.query('DELETE FROM destination_holds RETURNING *');
    if (lifted.rows.length > 0) {
      heldBack = true;
      await site.database.query('UPDATE deliveries SET next_at = now()');
      outbox.wake();
    }
    await new Promise((later) => setTimeout(later, 25));
  }
  throw new Error('the delivery did not settle');
}

const errorCode = (error: unknown) => (error instanceof SonogateError ? error.code : error);

const status = (code: number, headers?: Record<string, string>): Fault => ({
  kind: 'status',
  status: code,
  headers,
});

describe('a fault of the EHR ends in one report', () => {
  test.each<[string, Fault, number, boolean]>([
    ['202: carried out later', { kind: 'accepted', milliseconds: 200 }, 1, false],
    ['401 for a while', status(401), 2, true],
    ['403 for a while', status(403), 1, true],
    ['404 of the base for a while', status(404), 1, true],
    ['408', status(408), 1, false],
    ['409 three times', status(409), 3, false],
    ['412 once', status(412), 1, false],
    ['413: the PDF goes as a Binary', status(413), 1, false],
    ['423 and 425 alike: locked', status(423), 2, false],
    ['429 with Retry-After', status(429, { 'retry-after': '30' }), 2, true],
    ['500 four times', status(500), 4, false],
    ['502 with a page', { kind: 'page', status: 502 }, 3, false],
    ['503', status(503), 6, false],
    ['503 with Retry-After', status(503, { 'retry-after': '30' }), 1, true],
    ['an answer that is too slow', { kind: 'slow', milliseconds: 1500 }, 1, false],
    ['a connection cut before', { kind: 'cut-before' }, 3, false],
    ['a connection cut after the commit', { kind: 'cut-after-commit' }, 2, false],
    ['405: resource by resource', status(405), 1, false],
  ])('%s', async (_, fault, times, isHeldBack) => {
    await ehr.put(PATIENT);
    ehr.fail('POST /', fault, times);
    expect(await settled(await enqueue())).toEqual({ state: 'delivered', heldBack: isHeldBack });
    expect(await ehr.all('DiagnosticReport')).toHaveLength(1);
    expect(await holds.list()).toEqual([]);
  });
});

describe('or in the hold queue, with the reason', () => {
  const outcome = (code: string) => ({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, expression: ['DiagnosticReport.code'] }],
  });

  test.each<[string, Fault, number, string, RegExp]>([
    ['400', status(400), 1, 'ehr_rejected', /HTTP 400/],
    ['409 four times', status(409), 4, 'ehr_rejected', /HTTP 409/],
    ['410', status(410), 1, 'ehr_rejected', /HTTP 410/],
    ['412 twice', status(412), 2, 'ehr_rejected', /HTTP 412/],
    ['415', status(415), 1, 'ehr_misconfigured', /HTTP 415/],
    [
      '422 with its issue',
      { kind: 'status', status: 422, body: outcome('code-invalid') },
      1,
      'ehr_rejected',
      /HTTP 422; code-invalid at DiagnosticReport\.code/,
    ],
    ['500 five times', status(500), 5, 'ehr_unavailable', /HTTP 500/],
    ['a sign-in page', { kind: 'page', status: 200 }, 1, 'ehr_misconfigured', /HTTP 200/],
    [
      'a redirect',
      status(308, { location: 'http://127.0.0.1:9/' }),
      1,
      'ehr_misconfigured',
      /HTTP 308/,
    ],
    [
      'an entry that failed inside a 200',
      { kind: 'entry-status', status: '422 Unprocessable' },
      1,
      'ehr_rejected',
      /entry 0: HTTP 422/,
    ],
  ])('%s', async (_, fault, times, code, detail) => {
    await ehr.put(PATIENT);
    ehr.fail('POST /', fault, times);
    const request = await enqueue();
    expect(await settled(request)).toMatchObject({ state: 'dead' });
    expect(await holds.list()).toEqual([
      expect.objectContaining({
        request_id: request,
        code,
        detail: expect.stringMatching(detail),
        retried: false,
      }),
    ]);
  });

  test('from which a release sends it, once the EHR works again', async () => {
    await ehr.put(PATIENT);
    ehr.fail('POST /', status(422));
    const request = await enqueue();
    await settled(request);
    const [held] = await holds.list();
    await holds.release({ id: held?.id ?? '', person: 'ana', withoutOrder: false });
    expect(await settled(request)).toMatchObject({ state: 'delivered' });
    expect(await ehr.all('DiagnosticReport')).toHaveLength(1);
    expect(await holds.list()).toEqual([]);
  });
});

describe('a response that is lost until the delivery is abandoned', () => {
  const givenUpAtOnce = async () => {
    const request = await site.submit();
    const target = { kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' } as const;
    await site.database.transaction((tx) => enqueueDeliveries(tx, request, [target], 0));
    return request;
  };
  const sendAsItIs = async () => {
    const [held] = await holds.list();
    expect(held).toMatchObject({ code: 'ehr_ambiguous', retried: false });
    await holds.release({ id: held?.id ?? '', person: 'ana', withoutOrder: false });
  };

  test('is held, and sending it again leaves the one report that was already there', async () => {
    await ehr.put(PATIENT);
    ehr.fail('POST /', { kind: 'cut-after-commit' });
    const request = await givenUpAtOnce();
    expect(await settled(request)).toMatchObject({ state: 'dead' });
    const there = await ehr.all('DiagnosticReport');
    expect(there).toHaveLength(1);
    await sendAsItIs();
    expect(await settled(request)).toMatchObject({ state: 'delivered' });
    expect((await ehr.all('DiagnosticReport')).map(({ id }) => id)).toEqual([there[0]?.id]);
  });

  test('is sent again to the patient that a person chose before', async () => {
    await ehr.put(PATIENT);
    const chosen = await ehr.put(PATIENT);
    const patient = `Patient/${chosen.id}`;
    const request = await givenUpAtOnce();
    await settled(request);
    const [held] = await holds.list();
    ehr.fail('POST /', { kind: 'cut-after-commit' });
    const choice = { id: held?.id ?? '', person: 'ana', patient, withoutOrder: false };
    await holdQueue(0).release(choice);
    expect(await settled(request)).toMatchObject({ state: 'dead' });
    await sendAsItIs();
    expect(await settled(request)).toMatchObject({ state: 'delivered' });
    const reports = await ehr.all('DiagnosticReport');
    expect(reports.map(({ subject }) => subject?.reference)).toEqual([patient]);
  });
});

describe('a patient who cannot be matched', () => {
  test('is held with the candidates; the chosen one gets the report, and the person who chose is recorded', async () => {
    await ehr.put(PATIENT);
    const chosen = await ehr.put(PATIENT);
    const request = await enqueue();
    await settled(request);
    const [held] = await holds.list();
    expect(held).toMatchObject({ code: 'ehr_patient_ambiguous' });
    const patient = `Patient/${chosen.id}`;
    expect(held?.candidates.map(({ reference }) => reference)).toContain(patient);

    await holds.release({ id: held?.id ?? '', person: 'ana', patient, withoutOrder: false });
    expect(await settled(request)).toMatchObject({ state: 'delivered' });
    const [report] = await ehr.all('DiagnosticReport');
    expect(report?.subject?.reference).toBe(patient);
    expect(await actions()).toEqual([
      { action: 'release', person: 'ana', code: 'ehr_patient_ambiguous', patient, reason: null },
    ]);
  });

  test('is listed while the delivery waits, and receives the report automatically once registered', async () => {
    const request = await enqueue();
    await expect
      .poll(() => holds.list())
      .toEqual([expect.objectContaining({ code: 'ehr_patient_not_found', retried: true })]);
    await ehr.put(PATIENT);
    expect(await settled(request)).toMatchObject({ state: 'delivered' });
  });

  test('is rejected by a person: nothing is sent then or later', async () => {
    const request = await enqueue();
    const id = await heldId();
    const call = { id, person: 'ana', reason: 'a phantom' };
    // While the report is being retried it is not on hold, so the person repeats the command.
    await expect.poll(() => holds.reject(call).then(() => 'rejected', errorCode)).toBe('rejected');
    await ehr.put(PATIENT);
    expect(await settled(request)).toMatchObject({ state: 'closed' });
    expect(await listDeliveries(site.database, { id })).toMatchObject([
      { closed: { by: 'ana', reason: 'a phantom' } },
    ]);
    expect(await holds.list()).toEqual([]);
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
    await replayDelivery(site.database, id, HOUR);
    expect(await settled(request)).toMatchObject({ state: 'dead' });
    expect(await ehr.all('DiagnosticReport')).toEqual([]);
  });

  test('is shown with the identity from the images, and the person who looked is recorded', async () => {
    const request = await enqueue();
    const id = await heldId();
    // While the delivery is being retried it is not on hold.
    const shown = await vi.waitFor(() => holds.show({ id, person: 'ana' }), 20_000);
    expect(shown.identity).toEqual(sampleSubject(request).identity);
    expect(await actions()).toMatchObject([{ action: 'show', person: 'ana' }]);
  });

  test('a delivery that is not held cannot be shown, released or rejected', async () => {
    const call = { id: 'dlv_unknown', person: 'ana' };
    await expect(holds.show(call)).rejects.toMatchObject({ code: 'not_found' });
    await expect(holds.release({ ...call, withoutOrder: false })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(holds.reject({ ...call, reason: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

async function actions(): Promise<object[]> {
  const { rows } = await site.database.query(
    `SELECT action, person, code, patient, reason FROM hold_actions
     WHERE delivery_id IN (SELECT id FROM deliveries) ORDER BY id`,
  );
  return rows;
}
