import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type {
  CardiacActivity,
  CardiacReading,
  MModeReading,
} from '../../../../pipelines/obstetric/fetal-heart/evidence.ts';
import type { PresentationReadings } from '../../../../pipelines/obstetric/presentation/judge.ts';
import type { SweepReading } from '../../../../pipelines/obstetric/shared/sweeps.ts';
import {
  type PartRun,
  partOf,
  partRuns,
  type SweepDirection,
  type SweptFrame,
} from '../../../../pipelines/obstetric/shared/sweeps.ts';
import { namedSweep } from '../../../../pipelines/obstetric/shared/view-names.ts';
import { cartValue } from '../../cart-sample.ts';
import { clip, interpretReadings, sectionOf } from '../evidence-sample.ts';

const head: PartRun = { part: 'head', from: 2, to: 9 };
const trunk: PartRun = { part: 'trunk', from: 12, to: 24 };

const sweep = (
  runs: readonly PartRun[],
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

  it.each<[string, PartRun[]]>([
    ['a head', [head]],
    ['a trunk', [trunk]],
    ['two trunks', [trunk, trunk]],
    ['nothing', []],
  ])('does not guess if a sweep shows only %s', (_, runs) => {
    const result = interpret({ sweeps: [sweep(runs)] }, TERM);
    expect(sectionOf(result, 'presentation').reason?.code).toBe('low_confidence');
    expect(result.classifications.filter(({ section }) => section === 'presentation')).toEqual([]);
  });

  it('does not guess if the direction of the sweep is unknown', () => {
    const section = sectionOf(interpret({ sweeps: [sweep([head, trunk], null)] }), 'presentation');
    expect(section.status).toBe('not_assessed');
    expect(section.reason?.code).toBe('direction_unknown');
  });

  it('concludes nothing if sweeps contradict each other', () => {
    const sweeps = [sweep([head, trunk]), sweep([trunk, head])];
    expect(presentationOf({ sweeps }, TERM)).toBeUndefined();
    expect(sectionOf(interpret({ sweeps }), 'presentation').reason?.code).toBe('sweeps_disagree');
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

  it('does not evaluate the presentation if the age is unknown', () => {
    const section = sectionOf(interpret({ sweeps: [sweep([trunk, head])] }), 'presentation');
    expect(section.summary).toContain('Gestational age was not given');
  });

  it.each<[string, PartRun[], number | null, string | undefined]>([
    ['head, trunk', [head, trunk], 1, 'cephalic'],
    ['head, trunk, head', [head, trunk, head], 2, 'cephalic'],
    ['trunk, head, trunk', [trunk, head, trunk], 2, 'breech'],
    ['trunk, head, trunk, head', [trunk, head, trunk, head], 2, 'breech'],
    ['a trunk in two pieces, head', [trunk, trunk, head], 1, 'breech'],
    ['two trunks', [trunk, trunk], null, undefined],
  ])('counts the fetuses of %s, and identifies the lower one', (_, runs, fetuses, presentation) => {
    const read = { sweeps: [sweep(runs)] };
    expect(sectionOf(interpret(read), 'presentation').data.fetuses_seen).toBe(fetuses);
    expect(presentationOf(read, TERM)).toBe(presentation);
  });

  it('does not mistake one head in two sweeps for twins', () => {
    const twice = [sweep([head, trunk]), sweep([trunk, head], 'to-caudal')];
    expect(sectionOf(interpret({ sweeps: twice }), 'presentation').data.fetuses_seen).toBe(1);
  });
});

describe('the presentation of several fetuses', () => {
  const machine = (fetuses: string[]) =>
    fetuses.map((fetus) =>
      cartValue({
        key: 'hc',
        concept: { scheme: 'LN', code: '11984-2', meaning: 'Head Circumference' },
        value: 300,
        unit: 'mm',
        fetus,
      }),
    );
  const study = (fetuses: string[]) => ({
    clips: [],
    cart: machine(fetuses),
    refused: [],
    files: 1,
    series: 1,
  });
  const of = (runs: PartRun[], fetuses: string[] = []) =>
    interpretReadings({
      readings: [],
      options: TERM,
      evidence: {
        study: study(fetuses),
        views: { presentation: { sweeps: [sweep(runs)], cardiac: [] } },
      },
    });

  it.each<[string, PartRun[], string[], boolean]>([
    ['one on the sweep, none named', [trunk, head], [], false],
    ['one on the sweep, one named', [trunk, head], ['A'], false],
    ['one on the sweep, two named', [trunk, head], ['A', 'B'], true],
    ['two on the sweep, none named', [trunk, head, trunk], [], true],
  ])(
    '%s: is reported for the one nearest the cervix, without a lie: %s',
    (_, runs, named, said) => {
      const result = of(runs, named);
      const section = sectionOf(result, 'presentation');
      expect(
        section.summary?.includes('Breech presentation of the fetus nearest the cervix.'),
      ).toBe(said);
      expect(section.summary?.includes('Longitudinal lie')).toBe(!said);
      expect(section.data.lie).toBe(said ? 'not_assessed' : 'longitudinal');
      expect(section.reason?.needs.includes('a sweep of each fetus by itself')).toBe(said);
      const own = result.classifications.filter((one) => one.section === 'presentation');
      expect(own.map(({ id }) => id)).toEqual(said ? ['presentation'] : ['presentation', 'lie']);
      expect(own[0]?.concept?.key).toBe(said ? 'fetal-presentation' : 'breech-presentation');
      const breech = result.findings.find(({ id }) => id === 'breech');
      expect(breech?.text.includes('of the fetus nearest the cervix')).toBe(said);
      expect(breech?.text).toContain('36+0 weeks');
    },
  );
});

describe('the draft report of a presentation', () => {
  it('contains only what the result contains', () => {
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
    const section = sectionOf(interpret(of({ status: 'not-assessable' })), 'presentation');
    expect(section.data.cardiac_activity).toBe('not_assessed');
  });

  it('that is not visible is reported neutrally, as critical, with the seconds that were examined', () => {
    const [first] = clip('chest.dcm').frames;
    if (!first) throw new Error('no frame');
    const frames = [first, { ...first, index: 1, time: 3.2 }];
    const result = interpret(of({ status: 'not-seen' }, frames));
    const finding = result.findings.find(({ id }) => id === 'cardiac-activity-on-cine');
    expect(finding?.severity).toBe('critical');
    expect(finding?.text).toBe(
      'No cardiac activity was seen during the recorded clip of 3.2 s; confirmation by a second observer is required.',
    );
  });

  it('that is visible has a rate', () => {
    const area = { minX: 0, minY: 0, maxX: 9, maxY: 9 };
    const beating = { status: 'beating', beatsPerMinute: 144, uncertainty: 1, strength: 0.9, area };
    const result = interpret(of(beating as CardiacActivity));
    expect(sectionOf(result, 'presentation').summary).toContain('Cardiac activity seen, 144/min.');
  });

  it('requires a cine of the length that the analysis needs', () => {
    const { reason } = sectionOf(interpret({}), 'presentation');
    expect(reason?.needs).toContain('a cine of the fetal chest of at least 1.5 s');
  });
});

describe('a cine without cardiac activity', () => {
  const still = clip('still.dcm').frames[0] as Clip['frames'][number];
  const silent = (file: string, seconds = 2): CardiacReading => ({
    clip: clip(file, { frames: [still, { ...still, index: 1, time: seconds }] }),
    activity: { status: 'not-seen' },
  });
  const beating: CardiacReading = {
    clip: clip('beats.dcm'),
    activity: {
      status: 'beating',
      beatsPerMinute: 144,
      uncertainty: 1,
      strength: 0.9,
    },
  };
  const mMode = (beatsPerMinute: number, fetal = true): MModeReading => ({
    file: 'm-mode.dcm',
    sopInstanceUid: null,
    frame: 0,
    fetal,
    rhythm: {
      status: 'beating',
      beatsPerMinute,
      variation: 0.02,
      strength: 0.9,
    },
  });
  const found = (
    cardiac: CardiacReading[],
    given: { sweeps?: SweepReading[]; mMode?: MModeReading[] } = {},
  ) => {
    const { sweeps = [], mMode: swept = [] } = given;
    const result = interpretReadings({
      readings: [],
      options: { report: true },
      evidence: {
        study: { clips: cardiac.map((one) => one.clip), refused: [], files: 2, series: 1 },
        views: {
          presentation: { sweeps, cardiac },
          fetalHeart: { chests: [], views: [], chestFrames: 0, mMode: swept },
        },
      },
    });
    expect(result.report).not.toBeNull();
    const section = sectionOf(result, 'presentation');
    const finding = result.findings.find(({ id }) => id === 'cardiac-activity-on-cine');
    expect(section.summary).toContain(finding?.text ?? 'no finding');
    return {
      severity: finding?.severity,
      text: finding?.text ?? '',
      state: section.data.cardiac_activity,
    };
  };
  const CONFIRM = 'confirmation by a second observer is required.';

  it('is reported next to another one', () => {
    expect(found([silent('a.dcm', 2), silent('b.dcm', 3.25)])).toEqual({
      severity: 'critical',
      state: 'not_seen',
      text: `No cardiac activity was seen during the recorded clips, image 1 (2.0 s) and image 2 (3.3 s); ${CONFIRM}`,
    });
  });

  it('next to one that beats is reported as abnormal, and not as present', () => {
    expect(found([beating, silent('b.dcm')])).toEqual({
      severity: 'abnormal',
      state: 'contradictory',
      text: `No cardiac activity was seen during the recorded clip, image 2 (2.0 s), but it was seen in image 1 (144/min); ${CONFIRM}`,
    });
  });

  it('next to one that beats is critical if it may be of another fetus', () => {
    const { severity, text } = found([beating, silent('b.dcm')], {
      sweeps: [sweep([head, trunk, head])],
    });
    expect(severity).toBe('critical');
    expect(text).toContain('but it was seen in image 1 (144/min)');
    expect(text).toContain('sweep appears to show more than one fetus');
  });

  it.each([
    [110, 'abnormal', 'but M-mode reads 110/min; confirmation'],
    [109, 'critical', 'but M-mode reads 109/min, which may be the maternal rate; confirmation'],
  ])('against an M-mode of %i /min is %s, and names it', (rate, severity, words) => {
    const one = found([silent('b.dcm')], { mMode: [mMode(rate)] });
    expect(one).toMatchObject({ severity, state: 'contradictory' });
    expect(one.text).toContain(words);
  });

  it('is another finding without an M-mode rate, because documents identify findings by their ids', () => {
    const { findings } = interpretReadings({
      readings: [],
      evidence: {
        views: {
          presentation: { sweeps: [], cardiac: [silent('b.dcm')] },
          fetalHeart: {
            chests: [],
            views: [],
            chestFrames: 0,
            mMode: [{ ...mMode(140), rhythm: { status: 'not-seen' } }],
          },
        },
      },
    });
    expect(findings.map(({ section, severity }) => [section, severity])).toEqual([
      ['fetal-heart', 'critical'],
      ['presentation', 'critical'],
    ]);
    expect(new Set(findings.map(({ id }) => id)).size).toBe(2);
  });

  it('is not outweighed by an M-mode that may not be fetal', () => {
    const one = found([silent('b.dcm')], { mMode: [mMode(140, false)] });
    expect(one).toMatchObject({ severity: 'critical', state: 'not_seen' });
    expect(one.text).not.toContain('M-mode');
  });
});

describe('the part that a frame of a sweep shows', () => {
  it.each<[SweptFrame['plane'], boolean, boolean, string | null]>([
    ['other', true, false, 'head'],
    ['four-chamber', true, false, 'head'],
    ['other', false, true, 'trunk'],
    ['transthalamic', false, true, 'trunk'],
    ['transthalamic', true, true, 'head'],
    ['abdominal', true, true, 'trunk'],
    ['other', true, true, null],
    ['transthalamic', false, false, null],
    ['abdominal', false, false, null],
    ['thorax', false, false, 'trunk'],
    ['four-chamber', false, false, 'trunk'],
    ['other', false, false, null],
  ])('called %s, head outlined %s, abdomen outlined %s: %s', (plane, head, abdomen, part) => {
    expect(partOf({ plane, head, abdomen })).toBe(part);
  });
});

describe('the runs of head and trunk along a sweep', () => {
  /**
   * A capital letter is outlined and classified, a small one only outlined. `x` is a head
   * classified as a trunk, and a dot is neither.
   */
  const FRAMES: Readonly<Record<string, SweptFrame>> = {
    H: { plane: 'transthalamic', head: true, abdomen: false },
    h: { plane: 'other', head: true, abdomen: false },
    T: { plane: 'abdominal', head: false, abdomen: true },
    t: { plane: 'other', head: false, abdomen: true },
    x: { plane: 'four-chamber', head: true, abdomen: false },
  };
  const nothing: SweptFrame = { plane: 'other', head: false, abdomen: false };
  const framesOf = (text: string) => [...text].map((letter) => FRAMES[letter] ?? nothing);

  it.each([
    ['..HHHH...TTTTTT..', ['head 2-5', 'trunk 9-14']],
    ['HH..TT', []],
    ['HHH', ['head 0-2']],
    ['HH..HH', ['head 0-5']],
    ['HHHH.T.HHHH', ['head 0-10']],
    ['HHHHTTTTT.....HHHH', ['head 0-3', 'trunk 4-8', 'head 14-17']],
    ['hhHhh..ttttT', ['head 0-4', 'trunk 7-11']],
    ['hhhhh..TTTT', ['trunk 7-10']],
    ['hhxhh..TTTT', ['head 0-4', 'trunk 7-10']],
    ['HHHH..tttt', ['head 0-3']],
    ['', []],
  ])('of %s are %s', (text, expected) => {
    const runs = partRuns(framesOf(text)).map(({ part, from, to }) => `${part} ${from}-${to}`);
    expect(runs).toEqual(expected);
  });
});

describe('the words of a sweep', () => {
  it.each([
    ['SWEEP CAUDAL TO CRANIAL', true, 'to-cranial'],
    ['Fundus to cervix sweep', true, 'to-caudal'],
    ['caudo-cranial', true, 'to-cranial'],
    ['craniocaudal', true, 'to-caudal'],
    ['Cranial-caudal', true, 'to-caudal'],
    ['suprapubic to xiphoid', true, 'to-cranial'],
    ['superior to inferior sweep 2', true, 'to-caudal'],
    ['sweep left to right', true, null],
    ['sweep 3', true, null],
    ['FOUR CHAMBER', false, null],
    ['', false, null],
  ])('%s', (words, isSweep, direction) => {
    expect(namedSweep({ viewName: words, stageName: null })).toEqual({ sweep: isSweep, direction });
  });
});
