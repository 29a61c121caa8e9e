import { describe, expect, it } from 'vitest';
import { routingSchema } from '../../../../config/routing.ts';
import { TRANSLATE_ENDPOINT } from '../../../../pipelines/contract/translate.ts';
import { STORAGE_CLASS } from '../../../../pipelines/dicom/sop-classes.ts';
import type { InstanceRow } from '../../../../src/core/studies/study-store.ts';
import { runsOf } from '../../../../src/core/studies/submission.ts';
import { instanceHeader } from '../../../dimse/instance-header.ts';

const row = (id: string, sopClassUid: string) =>
  ({ id, header: instanceHeader({ sopClassUid }) }) as InstanceRow;
const IMAGE = row('image', STORAGE_CLASS.ultrasound);
const REPORT = row('report', STORAGE_CLASS.comprehensiveSr);
const [translate, interpret] = routingSchema.parse({
  rules: [
    { name: 'reports', translate: true, deliverTo: ['ehr'] },
    { name: 'images', run: { endpoint: 'us/echo/interpret' } },
  ],
}).rules;
if (!translate || !interpret) throw new Error('no rules');

const runs = (rules: Parameters<typeof runsOf>[0], instances: InstanceRow[]) =>
  runsOf(rules, instances).map(({ rule, instances: input }) => [
    rule.run.endpoint,
    input.map(({ id }) => id),
  ]);

describe('a rule that translates', () => {
  it('receives only the structured reports; a rule that runs receives everything', () => {
    expect(runs([translate, interpret], [IMAGE, REPORT])).toEqual([
      [TRANSLATE_ENDPOINT, ['report']],
      ['us/echo/interpret', ['image', 'report']],
    ]);
  });

  it('runs nothing on a study without a report', () => {
    expect(runs([translate], [IMAGE])).toEqual([]);
  });

  it.each([
    ['also runs an endpoint', { run: { endpoint: 'us/echo/interpret' }, deliverTo: ['ehr'] }],
    ['delivers to nobody', {}],
  ])('is refused when it %s', (_, more) => {
    const rules = [{ name: 'reports', translate: true, ...more }];
    expect(routingSchema.safeParse({ rules }).success).toBe(false);
  });
});
