import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NormalizedRequest } from '../../../../dimse/network/service-ports.ts';
import {
  instanceAvailabilityService,
  performedProcedureService,
} from '../../../../dimse/services/mpps-and-ian.ts';
import { referenceItems } from '../../../../dimse/services/referenced-objects.ts';
import { encodeDataSet } from '../../../../pipelines/dicom/data-set.ts';
import {
  INSTANCE_AVAILABILITY,
  PERFORMED_PROCEDURE_STEP,
} from '../../../../pipelines/dicom/sop-classes.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../../pipelines/dicom/transfer-syntaxes.ts';
import {
  completeExpected,
  forgetOldStatements,
} from '../../../../src/core/studies/expected-objects.ts';
import { claimCompleteStudies, findStudy } from '../../../../src/core/studies/study-store.ts';
import { dicomFile } from '../../../dimse/dicom-file.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';

const CLASS = '1.2.840.10008.5.1.4.1.1.6.1';
const PEER = { id: 'a', callingAeTitle: 'CART', calledAeTitle: 'SONOGATE', address: '127.0.0.1' };
const SOON = new Date('2020-01-01T00:00:00Z');

let site: Site;
let study = '';
let count = 0;

/** The quiet time never ends, so a study can be completed only by lists of objects. */
beforeAll(async () => {
  site = await openSite({
    completion: { signal: 'quiet-time', quietSeconds: 36_000, afterReleaseSeconds: 36_000 },
  });
});
afterAll(() => site?.close());
beforeEach(() => {
  count += 1;
  study = `1.2.840.91.${count}`;
});

const uid = (number: number) => `${study}.1.${number}`;
const send = (...numbers: number[]) =>
  Promise.all(
    numbers.map((number) =>
      sendBuffer(site.node, dicomFile({ sopInstanceUid: uid(number), studyInstanceUid: study })),
    ),
  );
const references = (numbers: readonly number[]) =>
  referenceItems(numbers.map((number) => ({ sopClassUid: CLASS, sopInstanceUid: uid(number) })));
const request = (
  operation: NormalizedRequest['operation'],
  sopClassUid: string,
  sopInstanceUid: string,
  dataSet: Parameters<typeof encodeDataSet>[0],
): NormalizedRequest => ({
  operation,
  sopClassUid,
  sopInstanceUid,
  typeId: 0,
  transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
  dataSet: encodeDataSet(dataSet, EXPLICIT_VR_LITTLE_ENDIAN),
});
const parts = () => ({ database: site.database, now: () => new Date() });

async function begin(step: string): Promise<void> {
  const created = await performedProcedureService(parts())(
    request('N-CREATE', PERFORMED_PROCEDURE_STEP, `${study}.9.${step}`, {
      PerformedProcedureStepStatus: 'IN PROGRESS',
      ScheduledStepAttributesSequence: [{ StudyInstanceUID: study }],
    }),
    PEER,
  );
  expect(created.status).toBe(0);
}

/**
 * Sets the state of a procedure step.
 * @param numbers if null, the Performed Series Sequence is left out.
 */
async function set(step: string, numbers: number[] | null, status = 'COMPLETED'): Promise<void> {
  const changed = await performedProcedureService(parts())(
    request('N-SET', PERFORMED_PROCEDURE_STEP, `${study}.9.${step}`, {
      PerformedProcedureStepStatus: status,
      ...(numbers && {
        PerformedSeriesSequence: [{ ReferencedImageSequence: references(numbers) }],
      }),
    }),
    PEER,
  );
  expect(changed.status).toBe(0);
}

async function notify(note: string, numbers: number[]): Promise<void> {
  const taken = await instanceAvailabilityService(parts())(
    request('N-CREATE', INSTANCE_AVAILABILITY, `${study}.8.${note}`, {
      StudyInstanceUID: study,
      ReferencedSeriesSequence: [{ ReferencedSOPSequence: references(numbers) }],
    }),
    PEER,
  );
  expect(taken.status).toBe(0);
}

/**
 * Returns the signal that would complete the study early at this moment, or `quiet-time` if there
 * is no such signal.
 */
async function signal() {
  await completeExpected(site.database, () => new Date(Date.now() + 3_600_000));
  return (await findStudy(site.database, study))?.complete_because;
}

describe('a list of the objects of a study', () => {
  test('completes it only if all objects of every step are here', async () => {
    await begin('1');
    await begin('2');
    await set('1', [1]);
    await set('2', [2, 3]);
    await send(1, 2);
    expect(await signal()).toBe('quiet-time');
    await send(3);
    expect(await signal()).toBe('performed-procedure');
  });

  test('does not complete it while another of its steps continues', async () => {
    await begin('1');
    await begin('2');
    await send(1);
    await set('1', [1]);
    expect(await signal()).toBe('quiet-time');
    await set('2', [1], 'DISCONTINUED');
    expect(await signal()).toBe('performed-procedure');
  });

  test('has no effect if no object is listed', async () => {
    await begin('1');
    await set('1', []);
    await notify('1', []);
    await send(1);
    expect(await signal()).toBe('quiet-time');
  });

  test('completes the study even if a further step made no object', async () => {
    await begin('1');
    await begin('2');
    await send(1);
    await set('1', [1]);
    await set('2', [], 'DISCONTINUED');
    expect(await signal()).toBe('performed-procedure');
  });

  test.each([
    ['does not repeat them', null],
    ['names others', [2]],
  ])('includes what a step listed before its last message, which %s', async (_what, last) => {
    await begin('1');
    await set('1', [1], 'IN PROGRESS');
    await send(2);
    await set('1', last);
    expect(await signal()).toBe('quiet-time');
    await send(1);
    expect(await signal()).toBe('performed-procedure');
  });

  test('that arrives after a revision was complete does not hasten the next one', async () => {
    await send(1);
    await complete();
    await notify('late', [1]);
    await send(2);
    expect(await signal()).toBe('quiet-time');
    await notify('all', [1, 2]);
    expect(await signal()).toBe('instance-availability');
  });

  test('is forgotten after thirty days', async () => {
    await begin('1');
    await set('1', [1]);
    const known = async () => {
      const { rows } = await site.database.query(
        `SELECT study_instance_uid FROM study_expectations WHERE study_instance_uid = $1
         UNION ALL SELECT $1 FROM performed_procedure_steps WHERE study_instance_uids = ARRAY[$1]`,
        [study],
      );
      return rows.length;
    };
    const days = (count: number) => new Date(Date.now() + count * 86_400_000);
    await forgetOldStatements(site.database, days(29.99));
    expect(await known()).toBe(2);
    await forgetOldStatements(site.database, days(30.01));
    expect(await known()).toBe(0);
  });
});

async function complete(): Promise<void> {
  await site.database.query(
    `UPDATE studies SET state = 'complete', complete_after = $2, next_attempt_at = $2
     WHERE study_instance_uid = $1`,
    [study, SOON],
  );
  const [claimed] = await claimCompleteStudies(site.database, SOON, 1);
  expect(claimed?.study_instance_uid).toBe(study);
  await site.database.query(`UPDATE studies SET state = 'routed' WHERE study_instance_uid = $1`, [
    study,
  ]);
}
