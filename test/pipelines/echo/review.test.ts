import { describe, expect, it } from 'vitest';
import type { Change } from '../../../pipelines/contract/review.ts';
import type { DisplayReading, TracedQuantity } from '../../../pipelines/echo/displays/reading.ts';
import type { ClipView } from '../../../pipelines/echo/locate/reader.ts';
import {
  type EchoReviewed,
  interpretReviewed,
  reviewRules,
} from '../../../pipelines/echo/review.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
import { cartValue } from '../cart-sample.ts';
import { clipOf } from './clip-sample.ts';
import { parasternalClip } from './parasternal/parasternal-sample.ts';
import { outlinedHeart } from './reviewed-heart.ts';

const AT = new Date('2026-01-01T00:00:00Z');

const counting = (key: string, { measurements }: Result) =>
  measurements.find(({ concept, standing }) => concept.key === key && standing === 'counts');

type Points = readonly (readonly [number, number])[];

/**
 * Returns the result after `draw` has changed the end-systolic outline of the four-chamber view.
 */
function redrawn(reviewed: EchoReviewed, draw: (points: Points) => [number, number][]): Result {
  const original = interpretReviewed(reviewed, [], AT);
  const one = original.measurements.find(
    ({ concept, source }) => concept.key === 'lvesv-4c' && source.calipers.length > 0,
  );
  if (!one) throw new Error('no outline of end-systole');
  const change = {
    kind: 'set-outline' as const,
    measurement: one.id,
    points: draw(one.source.calipers[0]?.points ?? []),
  };
  const state = { original, result: original, effects: [] };
  return interpretReviewed(reviewed, effectsOf(change, state, reviewRules(reviewed)), AT);
}

/** Scales the outline's width about the long axis. */
const narrowed = (share: number) => (points: Points) => {
  const middle = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  return points.map(([x, y]): [number, number] => [middle + share * (x - middle), y]);
};

describe('a left ventricular outline that a person has redrawn', () => {
  const reviewed = outlinedHeart();
  const before = interpretReviewed(reviewed, [], AT);

  it.each([0.9, 0.75, 0.5])(
    'narrower by %f at end-systole lowers the volume with the square of that',
    (share) => {
      const after = redrawn(reviewed, narrowed(share));
      const [old, now] = [counting('lvesv-4c', before), counting('lvesv-4c', after)];
      expect(now).toMatchObject({ confirmed: 'edited', origin: 'person' });
      expect((now?.value ?? 0) / (old?.value ?? 1)).toBeCloseTo(share ** 2, 1);
    },
  );

  it('changes the ejection fraction of the plane and of both planes, as well as the impression', () => {
    const after = redrawn(reviewed, narrowed(0.75));
    const changed = (key: string) => {
      const [old, now] = [counting(key, before)?.value ?? 0, counting(key, after)?.value ?? 0];
      return now - old;
    };
    expect(changed('lvef-4c')).toBeGreaterThan(15);
    expect(changed('lvef-biplane')).toBeGreaterThan(5);
    expect(changed('lvesv-biplane')).toBeLessThan(-5);
    expect(changed('lvedv-biplane')).toBe(0);
    const [first] = after.report?.impression ?? [];
    expect(first).toContain('LVEF 68 %');
    expect(before.report?.impression[0]).toContain('LVEF 57 ± 10 %');
  });

  it('that does not reach the valve is refused, and not replaced by the former outline', () => {
    const apart = (points: Points) =>
      points.map(([x, y]): [number, number] => [100 + (x - 100) / 4, 100 + (y - 150) / 4]);
    expect(() => redrawn(reviewed, apart)).toThrow('does not reach the valve');
  });
});

/** Returns the result after a person has entered a value in place of the first one of its quantity. */
function entered(reviewed: EchoReviewed, key: string, value: number): Result {
  const original = interpretReviewed(reviewed, [], AT);
  const one = original.measurements.find(({ concept }) => concept.key === key);
  if (!one) throw new Error(`no ${key}`);
  const change = { kind: 'set-value' as const, measurement: one.id, value };
  const state = { original, result: original, effects: [] };
  return interpretReviewed(reviewed, effectsOf(change, state, reviewRules(reviewed)), AT);
}

const summaryOf = ({ sections }: Result, id: string) =>
  sections.find((one) => one.id === id)?.summary ?? '';
const sectionDataOf = ({ sections }: Result, id: string) =>
  (sections.find((one) => one.id === id)?.data ?? {}) as {
    segments?: { views?: { view: string }[] }[];
  };
const categoryOf = ({ classifications }: Result, id: string) =>
  classifications.find((one) => one.id === id)?.value;

type Reported = Parameters<typeof cartValue>[0];

/** Returns a study that contains only the machine's report. */
function reported(...cart: Reported[]): EchoReviewed {
  const heart = outlinedHeart();
  const { gathered } = heart;
  return {
    ...heart,
    gathered: {
      ...gathered,
      study: { ...gathered.study, cart: cart.map(cartValue) },
      views: { apical: { clips: null, volumesTrusted: false }, parasternal: { clips: null } },
      accept: 'real',
    },
  };
}

const code = (scheme: string, value: string) => ({ scheme, code: value, meaning: value });
const machine = (key: string, unit: string, value: number, more: Partial<Reported> = {}) =>
  ({ concept: code('99TEST', key), key, unit, value, ...more }) as Reported;

describe('a value of the machine that a person has corrected', () => {
  it('remains the GLS of the study, and is graded', () => {
    const after = entered(
      reported(machine('gls-peak-systolic', '%', -14)),
      'gls-peak-systolic',
      -19.5,
    );
    expect(counting('gls-peak-systolic', after)).toMatchObject({ value: -19.5, origin: 'person' });
    expect(categoryOf(after, 'gls-band')).toBe('normal');
    expect(summaryOf(after, 'lv-strain')).toContain('entered by hand');
    expect(after.report?.impression[0]).toContain('ormal longitudinal strain');
  });
  it('still belongs to the other volume of the beat', () => {
    const volumes = [machine('lvedv-biplane', 'ml', 150), machine('lvesv-biplane', 'ml', 90)];
    const after = entered(reported(...volumes), 'lvesv-biplane', 60);
    expect(counting('lvef-biplane', after)?.value).toBe(60);
  });
  it('makes the LVEF from both volumes one of the reader, not of the machine', () => {
    const volumes = [machine('lvedv-biplane', 'ml', 150), machine('lvesv-biplane', 'ml', 90)];
    const ofMachine = interpretReviewed(reported(...volumes), [], AT);
    expect(counting('lvef-biplane', ofMachine)?.origin).toBe('machine');
    expect(ofMachine.report?.impression[0]).toContain('LVEF 40 % (biplane discs, ultrasound');
    const after = entered(reported(...volumes), 'lvesv-biplane', 60);
    expect(counting('lvef-biplane', after)?.origin).toBe('person');
    expect(after.report?.impression[0]).toContain('LVEF 60 %');
    expect(after.report?.impression[0]).not.toContain('ultrasound machine');
  });
  it('decides between that LVEF and an old one of the machine', () => {
    const volumes = [machine('lvedv-biplane', 'ml', 150), machine('lvesv-biplane', 'ml', 90)];
    const after = entered(reported(...volumes, machine('lvef', '%', 40)), 'lvesv-biplane', 60);
    expect(categoryOf(after, 'lvef-grade')).toBe('normal');
    expect(summaryOf(after, 'lvef')).toContain('The methods disagree on the category: LVEF 40 %');
  });
  it.each([
    ['lvef-4c', 'lvesv-4c'],
    ['lvef-2c', 'lvesv-2c'],
  ])('changes the %s of the machine, or withholds it without the other volume', (ef, volume) => {
    const filled = machine(volume.replace('lves', 'lved'), 'ml', 140);
    const of = [machine(volume, 'ml', 98), machine(ef, '%', 30)];
    const after = entered(reported(filled, ...of), volume, 56);
    expect(counting(ef, after)).toMatchObject({ value: 60, origin: 'person' });
    expect(after.findings.map(({ id }) => id)).not.toContain('severe-lv-dysfunction');
    const without = entered(reported(...of), volume, 56);
    expect(counting(ef, without)).toBeUndefined();
    expect(summaryOf(without, 'lvef')).toContain('one of its inputs was corrected');
  });
  it('changes what the machine calculated from it, unless a person confirmed that too', () => {
    const filling = reported(
      machine('mitral-e', 'cm/s', 120),
      machine('mitral-a', 'cm/s', 50),
      machine('e-to-a', '1', 2.4),
      machine('lvef-biplane', '%', 40),
    );
    const after = entered(filling, 'mitral-e', 60);
    expect(counting('e-to-a', after)).toMatchObject({
      value: 1.2,
      note: 'calculated again, because one of its inputs was corrected; the machine gave 2.40',
    });
    expect(categoryOf(interpretReviewed(filling, [], AT), 'diastolic-2016')).toContain('grade III');
    expect(categoryOf(after, 'diastolic-2016')).not.toContain('grade III');
  });
  it('changes what the machine calculated from such a calculated value', () => {
    const walls = [machine('ivsd', 'cm', 1.1), machine('lvpwd', 'cm', 1.1)];
    const mass = [machine('lv-mass', 'g', 330), machine('lv-mass-index', 'g/m2', 178)];
    const after = entered(reported(machine('lvidd', 'cm', 6.5), ...walls, ...mass), 'lvidd', 4.8);
    expect(counting('lv-mass-index', after)?.value).toBeCloseTo(105, 0);
    expect(categoryOf(after, 'lv-geometry')).toBe('concentric remodelling');
  });
  it('changes the LVEF by Teichholz', () => {
    const of = reported(
      machine('lvidd', 'cm', 4.8),
      machine('lvids', 'cm', 3.2),
      machine('lvef-teichholz', '%', 62),
    );
    expect(counting('lvef-teichholz', entered(of, 'lvids', 4))?.value).toBeCloseTo(35, 0);
    const one = reported(machine('lvids', 'cm', 3.2), machine('lvef-teichholz', '%', 62));
    expect(summaryOf(entered(one, 'lvids', 4), 'lvef')).toContain(
      'one of its inputs was corrected',
    );
  });
  it('withholds what the machine calculated from it if the other inputs are not known', () => {
    const filling = reported(
      machine('mitral-e', 'cm/s', 120),
      machine('e-prime-septal', 'cm/s', 5),
      machine('e-to-e-prime', '1', 20),
    );
    const after = entered(filling, 'mitral-e', 60);
    expect(counting('e-to-e-prime', after)).toBeUndefined();
    expect(summaryOf(after, 'diastolic')).toContain('one of its inputs was corrected');
    expect(counting('e-to-e-prime-septal', after)?.value).toBe(12);
  });
  it.each([
    ['and gave itself', [machine('lv-mass', 'g', 330)]],
    ['and did not give', []],
  ])('withholds what depends on it through a value that the machine calculated %s', (_, mass) => {
    const index = machine('lv-mass-index', 'g/m2', 178);
    const after = entered(reported(machine('lvidd', 'cm', 6.5), ...mass, index), 'lvidd', 4.8);
    expect(counting('lv-mass-index', after)).toBeUndefined();
    expect(summaryOf(after, 'lv-size')).toContain('one of its inputs was corrected');
  });
  it('leaves no value that was withheld in use in a later section', () => {
    const index = machine('lv-mass-index', 'g/m2', 178);
    const filling = [
      machine('mitral-e', 'cm/s', 80),
      machine('mitral-a', 'cm/s', 60),
      machine('lvef-biplane', '%', 60),
    ];
    const study = reported(machine('lvidd', 'cm', 6.5), index, ...filling);
    const disease = 'myocardial disease: LV mass index above its range';
    expect(summaryOf(interpretReviewed(study, [], AT), 'diastolic')).toContain(disease);
    expect(summaryOf(entered(study, 'lvidd', 4.8), 'diastolic')).not.toContain(disease);
  });
  it('changes what a section needs before the section that shows it', () => {
    const stenosis = [machine('mv-half-time', 'ms', 244), machine('mv-area-half-time', 'cm2', 0.9)];
    const filling = [machine('mitral-e', 'cm/s', 80), machine('mitral-a', 'cm/s', 60)];
    const study = reported(...stenosis, ...filling, machine('lvef-biplane', '%', 60));
    const doubt = 'mitral valve area';
    expect(summaryOf(interpretReviewed(study, [], AT), 'diastolic')).toContain(doubt);
    const after = entered(study, 'mv-half-time', 60);
    expect(counting('mv-area-half-time', after)?.value).toBeCloseTo(3.7, 1);
    expect(summaryOf(after, 'diastolic')).not.toContain(doubt);
  });
  it('does not become a depth behind the posterior wall', () => {
    const after = entered(reported(machine('effusion-depth', 'mm', 8)), 'effusion-depth', 15);
    expect(categoryOf(after, 'effusion-size')).toBe('moderate');
    expect(summaryOf(after, 'pericardial-effusion')).not.toMatch(/posterior|PLAX/);
  });
  it.each([
    ['lv-mass', code('LN', '18087-7'), 'g', '125270', 250, 180],
    ['lvef', code('LN', '18043-0'), '%', '125999', 35, 60],
  ])('counts even if the machine stated the method: %s', (key, concept, unit, method, old, now) => {
    const own = machine(key, unit, old, { concept, method: code('DCM', method) });
    expect(counting(key, entered(reported(own), key, now))).toMatchObject({ value: now });
  });
});

describe('a value that a person has entered', () => {
  it('is not withheld as a contradiction', () => {
    const cava = [machine('ivc-diameter', 'mm', 25), machine('ivc-collapse', '%', 20)];
    const jet = machine('tr-vmax', 'm/s', 2.9);
    const after = entered(
      reported(...cava, jet, machine('ra-pressure', 'mm[Hg]', 15)),
      'ra-pressure',
      3,
    );
    expect(counting('ra-pressure', after)?.value).toBe(3);
    expect(counting('rvsp', after)?.value).toBeCloseTo(36.64);
  });

  it.each([
    ['an outlined depth', [parasternalClip('PLAX', 8), parasternalClip('PSAX', 12)], ''],
    [
      'a depth behind the posterior wall',
      [parasternalClip('PLAX', 12, 1, 11), parasternalClip('PSAX', 12)],
      ', by its depth behind the posterior wall',
    ],
  ])('counts in place of %s, at its place', (_, clips, place) => {
    const study = reported();
    const views = { ...study.gathered.views, parasternal: { clips } };
    const heart = { ...study, gathered: { ...study.gathered, views } };
    const after = entered(heart, 'effusion-depth', 15);
    const said = summaryOf(after, 'pericardial-effusion');
    expect(said).toContain(`Pericardial effusion: moderate${place}.`);
    expect(said).not.toContain('PLAX');
  });

  /** Returns the outlined heart with one LVEF of both networks. */
  function withNetworks(percent: number, accepted: boolean): EchoReviewed {
    const heart = outlinedHeart();
    const { gathered } = heart;
    const { apical } = gathered.views;
    const joint = { percent, accepted, confidence: 0.9 };
    const clips = (apical?.clips ?? []).map((clip) =>
      clip.view === 'A4C' ? { ...clip, ejections: [{ ...joint, diastole: 0, systole: 5 }] } : clip,
    );
    const views = { ...gathered.views, apical: { clips, volumesTrusted: true } };
    return { ...heart, gathered: { ...gathered, views } };
  }

  it('is the LVEF where the networks disagree, whose outlines stay withheld', () => {
    const after = entered(withNetworks(30, false), 'lvef-networks', 48);
    expect(counting('lvef-networks', after)?.value).toBe(48);
    expect(categoryOf(after, 'lvef-grade')).toBe('mildly abnormal');
    expect(counting('lvef-biplane', after)).toBeUndefined();
    expect(counting('lvedv-4c', after)).toBeUndefined();
  });
  it('is the LVEF of the study before that of the networks', () => {
    const after = entered(withNetworks(45, true), 'lvef-4c', 52);
    expect(after.report?.impression[0]).toContain('LVEF 52 %');
    expect(categoryOf(after, 'lvef-grade')).toBe('normal');
  });
});

describe('a parasternal clip whose view a person has named', () => {
  const { gathered, ...rest } = outlinedHeart();
  const file = parasternalClip('PLAX', null).file;
  const reviewed: EchoReviewed = {
    ...rest,
    gathered: {
      ...gathered,
      study: {
        ...gathered.study,
        clips: gathered.study.clips.slice(0, 1).map((one) => ({ ...one, file })),
      },
      views: {
        ...gathered.views,
        parasternal: { clips: [parasternalClip('PLAX', null)] },
      },
    },
  };
  const lengthIn = (view: string) => {
    const original = interpretReviewed(reviewed, [], AT);
    const state = { original, result: original, effects: [] };
    const effects = effectsOf({ kind: 'name-view', file, view }, state, reviewRules(reviewed));
    return counting('lvidd', interpretReviewed(reviewed, effects, AT))?.value;
  };
  it('PLAX, as the classifier did, is measured as before', () => {
    expect(lengthIn('PLAX')).toBeCloseTo(5, 1);
  });
  it.each(['other', 'PSAX-PM', 'A4C'])('%s has no lines of a long axis', (view) => {
    expect(lengthIn(view)).toBeUndefined();
  });
});

describe('a value of a wall that neither the header nor the trace names', () => {
  const { gathered, ...rest } = outlinedHeart();
  const quantity = { key: 's-prime-unnamed', value: 10.97, beats: [10.9, 11, 11], used: [0, 1, 2] };
  const display: DisplayReading = {
    ...{ file: 'wall.dcm', sopInstanceUid: '2.25.1', frame: 0, kind: 'pw' },
    ...{ flow: 'annulus', namedBy: null, nameConfidence: 0, because: 'tissue-scale' },
    ...{ peak: 11, side: 'above', beats: 3, regular: true, confidence: 0.9 },
    ...{ refusal: null, trace: null },
    quantities: [{ ...quantity, calipers: [], remark: null, doubt: null } as TracedQuantity],
  };
  const reviewed: EchoReviewed = { ...rest, gathered: { ...gathered, spectra: [display] } };
  const original = interpretReviewed(reviewed, [], AT);

  it('counts once if two displays of such a wall are confirmed', () => {
    const key = 's-prime-unnamed';
    const second = { ...quantity, value: 7.2, calipers: [], remark: null, doubt: null };
    const other = { ...display, file: 'wall-2.dcm', quantities: [second as TracedQuantity] };
    const both = { ...reviewed, gathered: { ...gathered, spectra: [display, other] } };
    const draft = interpretReviewed(both, [], AT);
    const ids = draft.measurements.flatMap(({ id, concept }) => (concept.key === key ? id : []));
    const state = { original: draft, result: draft, effects: [] };
    const effects = ids.flatMap((measurement) =>
      effectsOf({ kind: 'accept', measurement }, state, reviewRules(both)),
    );
    const result = interpretReviewed(both, effects, AT);
    const standings = result.measurements.flatMap(({ concept, standing }) =>
      concept.key === key ? standing : [],
    );
    expect(standings).toEqual(['counts', 'repeat']);
    expect(summaryOf(result, 'diastolic')).toMatch(/Confirmed by the reader: .*11\.0.*7\.2/);
  });

  const after = (change: Exclude<Change, { kind: 'undo' }>) => {
    const state = { original, result: original, effects: [] };
    return interpretReviewed(reviewed, effectsOf(change, state, reviewRules(reviewed)), AT);
  };
  const measurement = original.measurements.find(
    ({ concept }) => concept.key === 's-prime-unnamed',
  );
  const { id = '', quality } = measurement ?? {};

  it('is withheld in the draft', () => {
    expect(quality).toBe('low');
  });

  it.each([
    [{ kind: 'accept', measurement: id }, 10.97, "S' of an unnamed wall 11.0 cm/s"],
    [{ kind: 'set-value', measurement: id, value: 11.4 }, 11.4, "S' of an unnamed wall 11.4 cm/s"],
  ] as const)('remains in the result after %j, and nothing is concluded', (change, value, text) => {
    const result = after(change);
    expect(counting('s-prime-unnamed', result)).toMatchObject({ value, quality: 'accepted' });
    expect(summaryOf(result, 'diastolic')).toContain(
      `Confirmed by the reader: ${text}; nothing is concluded, as the structure is unknown.`,
    );
    expect(result.classifications).toEqual(original.classifications);
  });
});

describe('a value that a person has rejected', () => {
  const reviewed = outlinedHeart();
  const original = interpretReviewed(reviewed, [], AT);
  const without = (id: string) => {
    const change = { kind: 'reject', measurement: id } as const;
    const state = { original, result: original, effects: [] };
    return interpretReviewed(reviewed, effectsOf(change, state, reviewRules(reviewed)), AT);
  };
  const idOf = (key: string) =>
    original.measurements.find(({ concept }) => concept.key === key)?.id ?? '';

  it.each(['lvedv-4c', 'lvesv-4c', 'lv-es-area-4c'])(
    '%s takes with it the LVEF of that plane, of both planes and the biplane ESV',
    (key) => {
      const after = without(idOf(key));
      for (const based of ['lvef-4c', 'lvesv-biplane', 'lvef-biplane']) {
        expect(counting(based, original)).toBeDefined();
        expect(counting(based, after)).toBeUndefined();
      }
    },
  );

  it.each(
    original.measurements.filter(({ quality }) => quality === 'accepted').map(({ id }) => id),
  )('%s leaves no accepted value that is calculated from it', (id) => {
    const { measurements } = without(id);
    const accepted = new Map(measurements.map((one) => [one.id, one.quality === 'accepted']));
    const unfounded = measurements.filter(
      ({ quality, inputs }) =>
        quality === 'accepted' && inputs.some((input) => !accepted.get(input)),
    );
    expect(unfounded.map((one) => one.id)).toEqual([]);
  });
});

describe('a value that a person has accepted', () => {
  type PersonChange = Exclude<Change, { kind: 'undo' }>;

  /** Returns the result after these changes of the values of a quantity, one after another. */
  function changed(
    reviewed: EchoReviewed,
    ...changes: readonly (readonly [PersonChange['kind'], key: string, value?: number])[]
  ): Result {
    const original = interpretReviewed(reviewed, [], AT);
    const rules = reviewRules(reviewed);
    let state: Parameters<typeof effectsOf>[1] = { original, result: original, effects: [] };
    for (const [kind, key, value] of changes) {
      const { id } = state.result.measurements.find(({ concept }) => concept.key === key) ?? {};
      const change = { kind, measurement: id, ...(value && { value }) } as PersonChange;
      const effects = [...state.effects, ...effectsOf(change, state, rules)];
      state = { original, effects, result: interpretReviewed(reviewed, effects, AT) };
    }
    return state.result;
  }
  const heart = outlinedHeart();
  const read = { ...heart, gathered: { ...heart.gathered, accept: 'real' as const } };
  const reportedVolumes = reported(
    machine('lvedv-4c', 'ml', 150),
    machine('lvesv-4c', 'ml', 60),
    machine('lvef-4c', '%', 60),
  );

  it('says so, after what else is to be said about it', () => {
    const { measurements } = interpretReviewed(read, [], AT);
    const proposed = measurements.find(({ concept }) => concept.key === 'lvef-4c');
    const accepted = counting('lvef-4c', changed(read, ['accept', 'lvef-4c']));
    expect(accepted?.remarks).toEqual([
      ...(proposed?.remarks ?? []).filter(({ code }) => code !== 'value.needs-review'),
      { code: 'review.accepted', params: {} },
    ]);
    expect(accepted?.note).toMatch(/accepted by the reader$/);
  });

  it.each([
    ['lvef-4c', 'lvedv-4c', read],
    ['lvef-4c', 'lvesv-4c', heart],
    ['lvef-2c', 'lvedv-2c', read],
    ['lvef-biplane', 'lvedv-4c', read],
    ['lvef-biplane', 'lvesv-biplane', read],
    ['lvef-4c', 'lvesv-4c', reportedVolumes],
  ])('goes with the value on which it is based: %s with %s', (key, volume, study) => {
    expect(counting(key, changed(study, ['accept', key]))).toMatchObject({ confirmed: 'accepted' });
    const after = changed(study, ['accept', key], ['reject', volume]);
    expect(counting(key, after)).toBeUndefined();
  });

  it('counts again once the reader accepts the value on which it is based', () => {
    const after = changed(
      heart,
      ['accept', 'lvef-4c'],
      ['reject', 'lvedv-4c'],
      ['accept', 'lvedv-4c'],
    );
    expect(counting('lvef-4c', after)?.value).toBeCloseTo(57, 0);
  });

  it.each([
    ['the reader typed it', [['set-value', 'lvef-biplane', 52]], 52],
    [
      'the reader typed what lies between',
      [
        ['set-value', 'lvedv-biplane', 120],
        ['set-value', 'lvesv-biplane', 60],
        ['accept', 'lvef-biplane'],
      ],
      50,
    ],
  ] as const)('stays if %s', (_, changes, ef) => {
    const after = changed(heart, ...changes, ['reject', 'lvedv-4c']);
    expect(counting('lvef-biplane', after)?.value).toBe(ef);
  });

  it.each(['lvedv-4c', 'lvesv-4c', 'lv-length-4c', 'lv-es-area-4c'])(
    'is no wall motion seen in the view whose %s is rejected',
    (key) => {
      const after = changed(heart, ['reject', key]);
      const { segments = [] } = sectionDataOf(after, 'wall-motion');
      const views = segments.flatMap((one) => one.views ?? []).map(({ view }) => view);
      expect(new Set(views)).toEqual(new Set(['A2C']));
      expect(summaryOf(after, 'wall-motion')).toContain('not graded in A4C');
      expect(sectionDataOf(after, 'lv-strain').segments).toHaveLength(7);
    },
  );

  it('is no score index once the outlines of both views are rejected, unless it was typed', () => {
    const key = 'wall-motion-score-index';
    const rejected = [
      ['reject', 'lvedv-4c'],
      ['reject', 'lvesv-2c'],
    ] as const;
    const after = changed(heart, ['accept', key], ...rejected);
    expect(counting(key, after)).toBeUndefined();
    expect(after.classifications.filter(({ section }) => section === 'wall-motion')).toEqual([]);
    expect(after.report?.impression.join(' ')).not.toMatch(/wall motion abnormality in/i);
    const typed = changed(heart, ['set-value', key, 1.5], ...rejected);
    expect(counting(key, typed)?.value).toBe(1.5);
  });

  it.each([
    ['lvef-4c', 'lvedv-4c', 'set-value', 130, heart],
    ['lvef-4c', 'lvesv-4c', 'set-value', 70, read],
    ['lvef-biplane', 'lvedv-biplane', 'set-value', 130, read],
    ['lvef-biplane', 'lvesv-biplane', 'set-value', 70, heart],
  ] as const)(
    'is no longer accepted once it has another number: %s after %s',
    (key, input, kind, value, study) => {
      const before = counting(key, changed(study, ['accept', key]));
      const result = changed(study, ['accept', key], [kind, input, value]);
      const after = result.measurements.find(({ concept }) => concept.key === key);
      expect(after?.value).not.toBeCloseTo(before?.value ?? 0, 0);
      expect(after).not.toHaveProperty('confirmed');
      const again = changed(study, ['accept', key], [kind, input, value], ['accept', key]);
      expect(counting(key, again)).toMatchObject({ value: after?.value, confirmed: 'accepted' });
    },
  );

  it('stays accepted if its input is given the same number, or the old one again', () => {
    const { value = 0 } = counting('lvedv-biplane', interpretReviewed(heart, [], AT)) ?? {};
    const ef = counting('lvef-biplane', interpretReviewed(heart, [], AT))?.value;
    const typed = (...values: number[]) =>
      values.map((one) => ['set-value', 'lvedv-biplane', one] as const);
    for (const changes of [typed(value), typed(130, value)]) {
      const after = changed(heart, ['accept', 'lvef-biplane'], ...changes);
      expect(counting('lvef-biplane', after)).toMatchObject({ value: ef, confirmed: 'accepted' });
    }
  });

  describe('in a version that did not store the number', () => {
    const original = interpretReviewed(heart, [], AT);
    const accepted = (key: string) => {
      const { id = '' } = original.measurements.find(({ concept }) => concept.key === key) ?? {};
      const change = { kind: 'accept', measurement: id } as const;
      const state = { original, result: original, effects: [] };
      return effectsOf(change, state, reviewRules(heart)).map((effect) => {
        if (effect.do !== 'confirm') return effect;
        const { seen: _, ...stored } = effect;
        return stored;
      });
    };

    it.each(['lvef-biplane', 'lvedv-biplane', 'wall-motion-score-index'])(
      'is accepted again by the reader if it is calculated: %s',
      (key) => {
        const effects = accepted(key);
        const result = interpretReviewed(heart, effects, AT);
        const one = result.measurements.find(({ concept }) => concept.key === key);
        expect(one).not.toHaveProperty('confirmed');
        const change = { kind: 'accept', measurement: one?.id ?? '' } as const;
        const again = effectsOf(change, { original, result, effects }, reviewRules(heart));
        const after = interpretReviewed(heart, [...effects, ...again], AT);
        expect(counting(key, after)).toMatchObject({ value: one?.value, confirmed: 'accepted' });
      },
    );

    it('stays accepted if it was read on one frame', () => {
      const result = interpretReviewed(heart, accepted('lvedv-4c'), AT);
      expect(counting('lvedv-4c', result)).toMatchObject({ confirmed: 'accepted' });
    });
  });

  it('leaves the volumes accepted when the ejection fraction is rejected or typed', () => {
    for (const change of [
      ['reject', 'lvef-biplane'],
      ['set-value', 'lvef-biplane', 45],
    ] as const) {
      const after = changed(read, ['accept', 'lvef-biplane'], change);
      for (const volume of ['lvedv-biplane', 'lvesv-biplane', 'lvedv-4c', 'lvesv-2c']) {
        expect(counting(volume, after)).toMatchObject({ confirmed: 'accepted' });
      }
    }
  });

  it('stays if the reader typed it and then its input', () => {
    const typed = [
      ['set-value', 'lvef-biplane', 52],
      ['set-value', 'lvedv-biplane', 130],
    ] as const;
    expect(counting('lvef-biplane', changed(heart, ...typed))).toMatchObject({
      value: 52,
      confirmed: 'entered',
    });
  });

  it('stays if it comes from the machine and a volume of the images is rejected', () => {
    const cart = [cartValue(machine('lvef-biplane', '%', 55))];
    const study = { ...heart.gathered.study, cart };
    const both = { ...heart, gathered: { ...heart.gathered, study } };
    const after = changed(both, ['accept', 'lvef-biplane'], ['reject', 'lvedv-4c']);
    expect(counting('lvef-biplane', after)).toMatchObject({ value: 55, confirmed: 'accepted' });
  });
});

describe('a clip that the header names A4C and that shows an A2C', () => {
  const settled = outlinedHeart();
  const disputed = ((): EchoReviewed => {
    const { gathered } = settled;
    const clips = gathered.study.clips.map((clip, at): ClipView => {
      const view = at === 0 ? 'A4C' : 'A2C';
      const one = { ...clipOf(view), clip };
      return at === 0
        ? { ...one, view: null, source: null, dispute: { named: 'A4C', seen: 'A2C' } }
        : one;
    });
    return { ...settled, gathered: { ...gathered, clips } };
  })();
  const draft = interpretReviewed(disputed, [], AT);
  const named = (view: string) => {
    const state = { original: draft, result: draft, effects: [] };
    const file = disputed.gathered.study.clips[0]?.file ?? '';
    const change = { kind: 'name-view' as const, file, view };
    return interpretReviewed(disputed, effectsOf(change, state, reviewRules(disputed)), AT);
  };

  it('is not measured, and the draft says why', () => {
    expect(counting('lvef-4c', draft)).toBeUndefined();
    expect(counting('lvef-biplane', draft)).toBeUndefined();
    expect(counting('lvef-2c', draft)).toBeDefined();
    expect(draft.sections.find(({ id }) => id === 'views')?.reason?.code).toBe('view_disputed');
    expect(summaryOf(draft, 'views')).toContain('image 1 is named A4C, but shows A2C');
    expect(summaryOf(draft, 'views')).toContain('no clip was found of PLAX, PSAX, A4C');
    expect(draft.report?.impression.join(' ')).not.toContain('A4C');
  });

  it('is measured again when a person names it as the header did', () => {
    const after = named('A4C');
    const before = interpretReviewed(settled, [], AT);
    expect(counting('lvef-4c', after)?.value).toBe(counting('lvef-4c', before)?.value);
    expect(counting('lvef-biplane', after)).toBeDefined();
    expect(summaryOf(after, 'views')).not.toContain('contradicts');
  });
});
