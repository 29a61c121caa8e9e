import { describe, expect, it } from 'vitest';
import { FAULTS } from './faults.ts';
import { scenario } from './scenario.ts';

/** The long form, `npm run faults`, covers the other faults. */
const SHORT = ['network cut in the middle of a PDU', 'disk full'];
const AMOUNT = { studies: 1, submits: 2 };

describe('a site under traffic', () => {
  it.each(SHORT)('survives: %s', { timeout: 200_000 }, async (name) => {
    const fault = FAULTS.find((each) => each.name === name);
    if (!fault) throw new Error(`no fault is called ${name}`);
    const outcome = await scenario(fault, AMOUNT);
    if ('skipped' in outcome) return console.info(`${name} is not tried: ${outcome.skipped}`);
    if ('failed' in outcome) throw new Error(outcome.failed);
    expect(outcome.ledger).toMatchObject({
      objectsAcknowledged: 2 * AMOUNT.studies,
      requestsAcknowledged: AMOUNT.submits,
      lost: [],
      late: [],
      doubled: [],
    });
  });
});
