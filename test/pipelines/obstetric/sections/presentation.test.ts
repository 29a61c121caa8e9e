import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import type { Plane } from '../../../../pipelines/obstetric/locator.ts';
import type {
  PresentationReadings,
  ReadRun,
  SweepReading,
} from '../../../../pipelines/obstetric/read/presentation.ts';
import {
  namedSweep,
  partRuns,
  type SweepDirection,
} from '../../../../pipelines/obstetric/sweep-runs.ts';
import { clip, interpretReadings, sectionOf } from '../evidence-sample.ts';

const head: ReadRun = { part: 'head', from: 2, to: 9, confirmed: true };
const trunk: ReadRun = { part: 'trunk', from: 12, to: 24, confirmed: false };

const sweep = (
  runs: readonly ReadRun[],
  direction: SweepDirection | null = 'to-cranial',
): SweepReading => ({ clip: clip('sweep.dcm'), direction, runs });

function interpret(read: Partial<PresentationReadings>, options: Record<string, unknown> = {}) {
  const presentation = { sweeps: [], cardiac: [], ...read };
  return interpretReadings({ readings: [], options, evidence: { views: { presentation } } });
}

const presentationOf = (read: Partial<PresentationReadings>, options?: Record<string, unknown>) =>
  interpret(read, options).classifications.find(({ id }) => id === 'presentation')?.value;

const TERM = { dating: { ga_days: 266 } };

describe('the section presentation', () => {
  it('is not assessed without a sweep: a single frame does not prove it', () => {
    const section = sectionOf(interpret({}), 'presentation');
    expect(section.status).toBe('not_assessed');
    expect(section.reason?.code).toBe('view_missing');
  });

  it.each<[string, SweepReading, string]>([
    ['head first, upwards', sweep([head, trunk]), 'cephalic'],
    ['trunk first, upwards', sweep([trunk, head]), 'breech'],
    ['head first, downwards', sweep([head, trunk], 'to-caudal'), 'breech'],
    ['trunk first, downwards', sweep([trunk, head], 'to-caudal'), 'cephalic'],
  ])('reads %s', (_, swept, expected) => {
    expect(presentationOf({ sweeps: [swept] }, TERM)).toBe(expected);
  });

  it('does not guess where one head lies between two trunks', () => {
    const section = sectionOf(interpret({ sweeps: [sweep([trunk, head, trunk])] }), 'presentation');
    expect(section).toMatchObject({ status: 'partial', reason: { code: 'low_confidence' } });
    expect(presentationOf({ sweeps: [sweep([trunk, head, trunk, head])] }, TERM)).toBe('breech');
  });

  it('does not guess where the direction of the sweep is not known', () => {
    const section = sectionOf(interpret({ sweeps: [sweep([head, trunk], null)] }), 'presentation');
    expect(section.status).toBe('not_assessed');
    expect(section.reason?.code).toBe('direction_unknown');
  });

  it('says nothing where sweeps contradict each other', () => {
    const sweeps = [sweep([head, trunk]), sweep([trunk, head])];
    expect(presentationOf({ sweeps }, TERM)).toBeUndefined();
    expect(sectionOf(interpret({ sweeps }), 'presentation').reason?.code).toBe('sweeps_disagree');
  });

  it('counts no head that was not outlined', () => {
    const section = sectionOf(
      interpret({ sweeps: [sweep([{ ...head, confirmed: false }, trunk])] }),
      'presentation',
    );
    expect(section.data.fetuses_seen).toBeNull();
    expect(section.reason?.code).toBe('low_confidence');
  });

  it.each([
    [195, 'variable'],
    [196, 'breech'],
  ])('at %s days calls a breech %s', (days, value) => {
    const read = { sweeps: [sweep([trunk, head])] };
    expect(presentationOf(read, { dating: { ga_days: days } })).toBe(value);
  });

  it.each([
    [251, false],
    [252, true],
  ])('at %s days a breech is a finding: %s', (days, found) => {
    const result = interpret({ sweeps: [sweep([trunk, head])] }, { dating: { ga_days: days } });
    expect(result.findings.some(({ id }) => id === 'breech')).toBe(found);
  });

  it('gives no weight to the presentation where the age is not known', () => {
    const section = sectionOf(interpret({ sweeps: [sweep([trunk, head])] }), 'presentation');
    expect(section.summary).toContain('Gestational age was not given');
  });

  it('takes two heads of one sweep for twins, not one head of two sweeps', () => {
    const twins = [sweep([head, trunk, { ...head, from: 30, to: 36 }])];
    const twice = [sweep([head, trunk]), sweep([trunk, head], 'to-caudal')];
    expect(sectionOf(interpret({ sweeps: twins }), 'presentation').data.fetuses_seen).toBe(2);
    expect(sectionOf(interpret({ sweeps: twice }), 'presentation').data.fetuses_seen).toBe(1);
  });
});

describe('the draft report of a presentation', () => {
  it('holds only what the result holds', () => {
    const sweeps = [sweep([trunk, head])];
    const { report } = interpret({ sweeps }, { ...TERM, report: true });
    expect(report?.impression).toContainEqual(expect.stringContaining('Breech presentation'));
  });
});

describe('cardiac activity', () => {
  const of = (activity: CardiacActivity, frames?: Clip['frames']) => ({
    cardiac: [{ clip: clip('chest.dcm', frames ? { frames } : {}), activity }],
  });

  it('is not assessed from a still', () => {
    const section = sectionOf(
      interpret(of({ status: 'not-assessable', reason: 'still' })),
      'presentation',
    );
    expect(section.data.cardiac_activity).toBe('not_assessed');
  });

  it('that is not seen is told neutrally, as critical, with the seconds looked at', () => {
    const [first] = clip('chest.dcm').frames;
    if (!first) throw new Error('no frame');
    const frames = [first, { ...first, index: 1, time: 3.2 }];
    const result = interpret(of({ status: 'not-seen', strength: 0.1 }, frames));
    const finding = result.findings.find(({ id }) => id === 'cardiac-activity');
    expect(finding?.severity).toBe('critical');
    expect(finding?.text).toBe(
      'No cardiac activity was seen during the recorded clip of 3.2 s; confirmation by a second observer is required.',
    );
  });

  it('that is seen has a rate', () => {
    const area = { minX: 0, minY: 0, maxX: 9, maxY: 9 };
    const beating = { status: 'beating', beatsPerMinute: 144, uncertainty: 1, strength: 0.9, area };
    const result = interpret(of(beating as CardiacActivity));
    expect(sectionOf(result, 'presentation').summary).toContain('Cardiac activity seen, 144 /min.');
  });
});

describe('the runs of head and trunk along a sweep', () => {
  const planes = (text: string): Plane[] =>
    [...text].map((letter) =>
      letter === 'h' ? 'transthalamic' : letter === 't' ? 'abdominal' : 'other',
    );

  it.each([
    ['..hhhh...tttttt..', ['head 2-5', 'trunk 9-14']],
    ['hh..tt', []],
    ['hhh', ['head 0-2']],
    ['hh..hh', ['head 0-5']],
    ['hhhh.t.hhhh', ['head 0-10']],
    ['hhhhttttt.....hhhh', ['head 0-3', 'trunk 4-8', 'head 14-17']],
    ['', []],
  ])('of %s are %s', (text, expected) => {
    const runs = partRuns(planes(text)).map(({ part, from, to }) => `${part} ${from}-${to}`);
    expect(runs).toEqual(expected);
  });
});

describe('the words of a sweep', () => {
  it.each([
    ['SWEEP CAUDAL TO CRANIAL', true, 'to-cranial'],
    ['Fundus to cervix sweep', true, 'to-caudal'],
    ['caudo-cranial', true, 'to-cranial'],
    ['craniocaudal', true, 'to-caudal'],
    ['sweep 3', true, null],
    ['FOUR CHAMBER', false, null],
    ['', false, null],
  ])('%s', (words, isSweep, direction) => {
    expect(namedSweep(words)).toEqual({ sweep: isSweep, direction });
  });
});
