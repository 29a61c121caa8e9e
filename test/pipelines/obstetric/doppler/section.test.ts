import { describe, expect, it } from 'vitest';
import { fetusOf } from '../../../../pipelines/contract/fetus-name.ts';
import type { BeatVelocities } from '../../../../pipelines/obstetric/doppler/evidence.ts';
import {
  acharyaSystolicDiastolicAt,
  anaemiaBand,
  aWave,
  ciobanuAt,
  dopplerSummary,
  endDiastolicFlow,
  mcaPeakMedian,
  rank,
  umbilicalAt,
  umbilicalReference,
  uterinePiAt,
  uterineReference,
} from '../../../../pipelines/obstetric/doppler/guideline.ts';
import { lateralityOf, vesselOf } from '../../../../pipelines/obstetric/doppler/read.ts';
import { beatOf, fromMachine, run, spectrum, traced } from './doppler-sample.ts';

describe('indices (obstetric 13.1, worked values)', () => {
  it('PSV 45.2, EDV 11.3, TAMX 22.1 give PI 1.53394, RI 0.75, S/D 4', () => {
    const { value } = run([spectrum('umbilical-artery')]);
    expect(value('umbilical-artery-pi')?.value).toBeCloseTo(1.53394, 5);
    expect(value('umbilical-artery-ri')?.value).toBeCloseTo(0.75, 10);
    expect(value('umbilical-artery-sd')?.value).toBeCloseTo(4, 10);
  });

  it('absent flow: PI 2.85714, RI 1, no S/D, and a critical finding', () => {
    const { value, category, findings } = run([
      spectrum('umbilical-artery', { psv: 40, edv: 0, tamx: 14 }),
    ]);
    expect(value('umbilical-artery-pi')?.value).toBeCloseTo(2.85714, 5);
    expect(value('umbilical-artery-ri')?.value).toBe(1);
    expect(value('umbilical-artery-sd')).toBeNull();
    expect(category).toBe('aedf');
    expect(findings?.find(({ id }) => id === 'end-diastolic-flow')?.severity).toBe('critical');
  });

  it('reversed flow: PI 4.09091, no S/D, and it leads the summary', () => {
    const { value, category } = run([
      spectrum('umbilical-artery', { psv: 40, edv: -5, tamx: 11 }),
      spectrum('middle-cerebral-artery', { psv: 40, edv: 12, tamx: 24 }),
    ]);
    expect(value('umbilical-artery-pi')?.value).toBeCloseTo(4.09091, 5);
    expect(value('umbilical-artery-sd')).toBeNull();
    expect(category).toBe('redf');
  });

  it('a peak and an end of diastole are shown on the spectrum', () => {
    const { value } = run([spectrum('umbilical-artery')]);
    const [peak] = value('umbilical-artery-psv')?.source.calipers ?? [];
    expect(peak?.points).toEqual([
      [60, 350],
      [60, 350 - 45.2 / 0.4],
    ]);
  });
});

describe('what makes a trace too poor for a category', () => {
  it.each([
    { wave: { beats: 2 }, quality: 'low' },
    { wave: { beats: 3 }, quality: 'accepted' },
    { wave: { variation: 0.1 }, quality: 'accepted' },
    { wave: { variation: 0.101 }, quality: 'low' },
    { wave: { tamx: 50 }, quality: 'low' },
  ])('includes $wave: $quality', ({ wave, quality }) => {
    const { value } = run([spectrum('umbilical-artery', wave)]);
    const pi = value('umbilical-artery-pi');
    expect(pi?.quality).toBe(quality);
    expect(pi?.reference === null).toBe(quality !== 'accepted');
  });

  it('includes a rate outside 110 to 160, for which there is no chart', () => {
    expect(
      run([spectrum('umbilical-artery', { rate: 110 })]).value('umbilical-artery-pi')?.reference,
    ).not.toBeNull();
    const slow = run([spectrum('umbilical-artery', { rate: 109 })]);
    expect(slow.value('umbilical-artery-pi')?.reference).toBeNull();
    expect(slow.reason?.code).toBe('heart_rate_outside_chart');
    const multiple = (rate: number) =>
      run([
        spectrum('middle-cerebral-artery', { rate }, { correctionAngle: 0 }),
      ]).measurements?.find(({ concept }) => concept.key === 'middle-cerebral-artery-psv-mom');
    expect([multiple(110)?.value, multiple(109)]).toEqual([expect.any(Number), undefined]);
  });

  it('of the fetus does not affect the chart of the uterine arteries', () => {
    const { value } = run([
      spectrum('umbilical-artery', { rate: 100 }),
      spectrum('uterine-artery', { rate: 80 }, { laterality: 'left' }),
      spectrum('uterine-artery', { rate: 80 }, { laterality: 'right' }),
    ]);
    expect(value('umbilical-artery-pi')?.reference).toBeNull();
    expect(value('uterine-artery-mean-pi')?.reference?.chart).toBe('gomez-2008-uterine-artery');
  });
});

describe('what the machine hides', () => {
  const lost = { psv: 40, edv: 0, tamx: 14 };

  it.each([
    { vanishesAt: 3, flow: 'absent', severity: 'critical' },
    { vanishesAt: 3.1, flow: 'not-assessable', severity: 'abnormal' },
  ])('flow that disappears at $vanishesAt cm/s is $flow', ({ vanishesAt, flow, severity }) => {
    const outcome = run([spectrum('umbilical-artery', { ...lost, vanishesAt })]);
    const found = outcome.classifications?.find(({ id }) => id === 'end-diastolic-flow');
    expect(found?.value).toBe(flow);
    const finding = outcome.findings?.find(({ id }) => id === 'end-diastolic-flow');
    expect(finding?.severity).toBe(severity);
    expect(outcome.category).toBe(flow === 'absent' ? 'aedf' : 'abnormal-ua');
  });

  it('a second loop with a low wall filter shows what the first could not', () => {
    const { category } = run([
      spectrum('umbilical-artery', { ...lost, vanishesAt: 8 }),
      spectrum('umbilical-artery', { edv: 20.2, tamx: 25, vanishesAt: 1 }),
    ]);
    expect(category).toBe('normal');
  });

  it('flow that is absent in some beats is not called normal', () => {
    const both = [beatOf({}), beatOf({}), beatOf({ edv: 0, endFlow: 'absent' })];
    const { findings, category } = run([
      spectrum('umbilical-artery', { ...traced(), beats: both }),
    ]);
    expect(category).toBe('abnormal-ua');
    expect(findings?.[0]?.text).toContain('absent in some beats');
  });

  it('a scale in Hz leads to ratios but no velocity', () => {
    const readings = [spectrum('middle-cerebral-artery', {}, { velocities: false })];
    const { value, summary } = run(readings);
    expect(value('middle-cerebral-artery-pi')?.note).toContain('Hz');
    expect(value('middle-cerebral-artery-psv')).toBeNull();
    expect(summary).toContain('signs of anaemia were not assessed');
  });

  it('a PI above 6 is plausible only with reversed flow', () => {
    const quality = (edv: number) =>
      run([spectrum('umbilical-artery', { psv: 40, edv, tamx: 6 })]).value('umbilical-artery-pi')
        ?.quality;
    expect(quality(4)).toBe('accepted');
    expect(quality(3.9)).toBe('inadequate');
    expect(quality(-5)).toBe('accepted');
    const beats = [-5, -5, 1, 1].map((edv) => beatOf({ psv: 40, edv, tamx: 6 }));
    const mixed = run([spectrum('umbilical-artery', { ...traced(), beats })]);
    expect(mixed.value('umbilical-artery-pi')?.quality).toBe('accepted');
  });

  it.each([
    ['umbilical-artery', 5, 150],
    ['middle-cerebral-artery', 5, 200],
    ['uterine-artery', 5, 300],
  ] as const)('a peak of the %s is plausible from %d to %d cm/s', (vessel, low, high) => {
    const quality = (psv: number) =>
      run([spectrum(vessel, { psv, edv: psv / 4, tamx: psv / 2 })]).value(`${vessel}-pi`)?.quality;
    expect([low - 0.1, low, high, high + 0.1].map(quality)).toEqual([
      'inadequate',
      'accepted',
      'accepted',
      'inadequate',
    ]);
  });
});

describe('several fetuses', () => {
  const twins = [
    spectrum('umbilical-artery', {}, { fetus: 'A' }),
    spectrum('umbilical-artery', { psv: 40, edv: 0, tamx: 14 }, { fetus: 'B' }),
    spectrum('middle-cerebral-artery', {}, { fetus: 'A' }),
  ];

  it("are evaluated separately, and no value of one is divided by the other's", () => {
    const { value, findings, data, summary } = run(twins);
    expect(summary).toContain('neither twin anaemia-polycythaemia sequence nor selective growth');
    expect(value('cerebroplacental-ratio-fetus-a')?.inputs).toEqual([
      'middle-cerebral-artery-pi-fetus-a',
      'umbilical-artery-pi-fetus-a',
    ]);
    expect(value('cerebroplacental-ratio-fetus-b')).toBeNull();
    expect(value('umbilical-artery-pi-fetus-b')).toMatchObject({ fetus: 'B' });
    expect(findings?.find(({ severity }) => severity === 'critical')?.text).toContain('Fetus B');
    expect(data?.category).toBe('aedf');
  });

  it('that the spectra do not identify have no category', () => {
    const reported = ['A', 'B'].map((fetus) => ({
      ...fromMachine('umbilical-artery-pi', 1.5),
      fetus,
    }));
    const { value, data, summary } = run([spectrum('umbilical-artery')], 224, reported);
    expect(value('unnamed-vessel-pi')?.value).toBeCloseTo(1.53394, 5);
    expect(value('umbilical-artery-pi-fetus-a')?.origin).toBe('machine');
    expect(data?.category).toBe('abnormal-ua');
    expect(summary).toContain('A spectrum does not name its fetus');
  });

  it.each([
    { name: 'UA Twin B', fetus: 'B' },
    { name: 'fetus_2 MCA', fetus: '2' },
    { name: 'Umb A', fetus: null },
    { name: 'Fetus A and Fetus B', fetus: null },
  ])('$name: $fetus', ({ name, fetus }) => {
    const view = { viewName: name, stageName: null, anatomicRegion: null, laterality: null };
    expect(fetusOf(view)).toBe(fetus);
  });
});

describe('missing input', () => {
  it('no spectrum: not assessed', () => {
    expect(run([])).toMatchObject({ status: 'not_assessed', reason: { code: 'view_missing' } });
  });

  it('no calibration: not assessed, no value', () => {
    const outcome = run([spectrum('umbilical-artery', { status: 'refused', reason: 'no-scale' })]);
    expect(outcome).toMatchObject({ status: 'not_assessed', reason: { code: 'no_calibration' } });
    expect(outcome.measurements ?? []).toEqual([]);
  });

  it('an aliased flow: reported, no value', () => {
    const outcome = run([spectrum('umbilical-artery', { status: 'refused', reason: 'aliased' })]);
    expect(outcome.status).toBe('inadequate');
    expect(outcome.summary).toContain('aliased');
  });

  it('no gestational age: indices only', () => {
    const outcome = run([spectrum('umbilical-artery')], null);
    expect(outcome.reason?.code).toBe('ga_missing');
    expect(outcome.value('umbilical-artery-pi')?.reference).toBeNull();
    expect(outcome.category).toBe('not-assessed');
  });

  it('a vessel that the header does not name: indices without a category', () => {
    const outcome = run([spectrum(null)]);
    expect(outcome.value('unnamed-vessel-pi')?.value).toBeCloseTo(1.53394, 5);
    expect(outcome.value('umbilical-artery-pi')).toBeNull();
    expect(outcome.reason?.code).toBe('vessel_unnamed');
    expect(outcome.category).toBe('not-assessed');
  });

  it.each([
    [0, 'complete', null],
    [null, 'partial', 'parts_missing'],
  ])('of all vessels with the angle %o: %s, %o', (correctionAngle, status, code) => {
    const outcome = run([
      spectrum('umbilical-artery'),
      spectrum('middle-cerebral-artery', { edv: 5 }, { correctionAngle }),
      spectrum('uterine-artery', {}, { laterality: 'left' }),
      spectrum('uterine-artery', {}, { laterality: 'right' }),
    ]);
    expect([outcome.status, outcome.reason?.code ?? null, outcome.summary]).toEqual([
      status,
      code,
      expect.stringMatching(code ? /the angle was not given/ : /forward\.$/),
    ]);
  });

  it('a trace whose values are implausible: reported, and not that it was not supplied', () => {
    const fast = spectrum('middle-cerebral-artery', { psv: 250, edv: 60, tamx: 120 });
    const { summary } = run([spectrum('umbilical-artery'), fast]);
    expect(summary).toContain('The values of the MCA trace are implausible and were not used; CPR');
  });

  it('no MCA: CPR is reported as not assessed', () => {
    const { summary, reason } = run([spectrum('umbilical-artery')]);
    expect(reason?.code).toBe('vessel_missing');
    expect(summary).toContain('MCA Doppler was not supplied; CPR was not assessed.');
  });
});

describe("the machine's own values", () => {
  it('are used if nothing was traced, with the chart', () => {
    const { value, category } = run([], 224, [fromMachine('umbilical-artery-pi', 1.5)]);
    const pi = value('umbilical-artery-pi');
    expect(pi?.source.provenance).toBe('cart-sr');
    expect(pi?.interpretation).toBe('H');
    expect(category).toBe('abnormal-ua');
  });

  it('are shown with the traced values and the difference', () => {
    const outcome = run([spectrum('umbilical-artery')], 224, [
      fromMachine('umbilical-artery-pi', 1.6),
    ]);
    expect(outcome.value('umbilical-artery-pi')?.source.provenance).toBe('image-analysis');
    expect(outcome.value('cart-umbilical-artery-pi')?.note).toContain('4.3 % above');
  });

  it.each([
    ['umbilical-artery', 'umbilical-artery-pi', 1.6, []],
    ['umbilical-artery', 'umbilical-artery-pi', 2.2, ['cart-umbilical-artery-pi']],
    ['umbilical-artery', 'umbilical-artery-pi', 0.9, ['cart-umbilical-artery-pi']],
    ['umbilical-artery', 'middle-cerebral-artery-pi', 2.2, []],
  ] as const)(
    'beside a traced %s, a %s of %f is a finding only if it differs',
    (vessel, key, value, ids) => {
      const { findings, summary } = run([spectrum(vessel)], 224, [fromMachine(key, value)]);
      const found = findings?.filter(({ id }) => id.startsWith('cart-')) ?? [];
      expect(found.map(({ id }) => id)).toEqual(ids);
      if (ids.length > 0) {
        expect(found).toMatchObject([{ severity: 'abnormal' }]);
        expect(found[0]?.evidence).toEqual(['umbilical-artery-pi', 'cart-umbilical-artery-pi']);
      }
      expect(summary).not.toContain('undefined');
    },
  );

  it('are compared with the trace of the same side', () => {
    const left = spectrum('uterine-artery', {}, { laterality: 'left' });
    const cart = (['left', 'right'] as const).map((laterality) => ({
      ...fromMachine('uterine-artery-pi', 4),
      laterality,
    }));
    const { findings } = run([left], 224, cart);
    expect(findings?.filter(({ id }) => id.startsWith('cart-')).map(({ id }) => id)).toEqual([
      'cart-uterine-artery-pi-left',
    ]);
  });

  it('are not used if they are implausible', () => {
    const { value } = run([], 224, [fromMachine('umbilical-artery-pi', 15)]);
    expect(value('umbilical-artery-pi')).toBeNull();
    expect(value('cart-umbilical-artery-pi')?.quality).toBe('inadequate');
  });

  it('are those of the fetus that they name, and of the mother', () => {
    const named = (fetus: string, key: Parameters<typeof fromMachine>[0], value: number) => ({
      ...fromMachine(key, value),
      fetus,
    });
    const uterine = (['left', 'right'] as const).map((laterality) => ({
      ...fromMachine('uterine-artery-pi', 1.4),
      laterality,
    }));
    const { value, findings, category } = run([], 210, [
      named('A', 'umbilical-artery-pi', 1),
      named('B', 'umbilical-artery-pi', 2),
      named('B', 'middle-cerebral-artery-psv', 74),
      ...uterine,
    ]);
    expect(value('umbilical-artery-pi-fetus-a')).toMatchObject({ fetus: 'A', interpretation: 'N' });
    expect(value('umbilical-artery-pi-fetus-b')).toMatchObject({ fetus: 'B', interpretation: 'H' });
    expect(value('uterine-artery-mean-pi')).toMatchObject({ fetus: null, interpretation: 'H' });
    expect(findings?.map(({ id }) => id)).toEqual([
      'umbilical-artery-doppler-fetus-b',
      'fetal-anaemia-signal-fetus-b',
      'uterine-artery-doppler',
    ]);
    expect(category).toBeUndefined();
  });

  it.each([
    ['with one', ['A']],
    ['with each', ['A', 'B']],
  ])('of the uterine arteries belong to the mother if they are listed %s', (_, fetuses) => {
    const sides = { left: 1.4, right: 1.2 };
    const uterine = fetuses.flatMap((fetus) =>
      (['left', 'right'] as const).map((laterality) => ({
        ...fromMachine('uterine-artery-pi', sides[laterality]),
        laterality,
        fetus,
      })),
    );
    const umbilical = { ...fromMachine('umbilical-artery-pi', 1), fetus: 'B' };
    const { measurements, summary } = run([], 210, [...uterine, umbilical]);
    const listed = measurements?.filter(({ concept }) => concept.key.startsWith('uterine'));
    expect(listed?.map(({ id, fetus }) => [id, fetus])).toEqual([
      ['uterine-artery-pi-left', null],
      ['uterine-artery-pi-right', null],
      ['uterine-artery-mean-pi', null],
    ]);
    expect(summary).toContain('Uterine artery PI (left) 1.40');
  });

  it('are used beside the spectra of another fetus, and not for it', () => {
    const { value, summary } = run([spectrum('umbilical-artery', {}, { fetus: 'A' })], 224, [
      { ...fromMachine('middle-cerebral-artery-pi', 1.9), fetus: 'B' },
      fromMachine('umbilical-artery-pi', 1.2),
    ]);
    expect(value('middle-cerebral-artery-pi-fetus-b')?.value).toBe(1.9);
    expect(value('cerebroplacental-ratio-fetus-a')).toBeNull();
    expect(summary).toContain('whether they belong to the same fetus as the spectra is unknown');
  });
});

describe('charts and thresholds', () => {
  const umbilicalPi = (gaWeeks: number, pi: number) => umbilicalReference(7 * gaWeeks, pi);

  it.each([
    ['FMF', (days: number) => ciobanuAt('cpr', days, 0), 140, 293],
    ['uterine', (days: number) => uterinePiAt(days, 0), 77, 287],
    ['umbilical', (days: number) => umbilicalAt('pi', days / 7, 0), 168, 280],
    ['free loop', (days: number) => acharyaSystolicDiastolicAt(days / 7, 0), 133, 287],
    ['MCA-PSV', (days: number) => mcaPeakMedian(days / 7), 126, 280],
  ])('the %s chart ends at its first and last day', (_, at, first, last) => {
    const ages = [first - 1, first, last, last + 1];
    expect(ages.map((days) => at(days) !== null)).toEqual([false, true, true, false]);
  });

  it('umbilical PI at 32 weeks: printed 95th centile 1.24', () => {
    expect(umbilicalPi(32, 1.24)?.high).toBeCloseTo(1.24, 2);
    expect(rank({ ...must(umbilicalPi(32, 1.2)) })).toBe('N');
    expect(rank({ ...must(umbilicalPi(32, 1.26)) })).toBe('H');
  });

  it('outside 24 to 40 weeks the FMF chart takes over, before 20 none', () => {
    expect(umbilicalReference(168, 1.1)?.chart).toBe('intergrowth-2020-umbilical-artery');
    expect(umbilicalReference(167, 1.1)?.chart).toBe('fmf-2019-doppler');
    expect(umbilicalReference(139, 1.1)).toBeNull();
  });

  it('uterine mean PI at 24 weeks: printed 95th centile 1.36', () => {
    expect(rank(must(uterineReference(168, 1.35)))).toBe('N');
    expect(rank(must(uterineReference(168, 1.37)))).toBe('H');
    expect(uterineReference(76, 1.5)).toBeNull();
  });

  it.each([
    { centile: 4.999, expected: 'L' },
    { centile: 5, expected: 'N' },
    { centile: 95, expected: 'N' },
    { centile: 95.001, expected: 'H' },
  ])('centile $centile: $expected', ({ centile, expected }) => {
    expect(rank({ low: null, high: null, centile, z_score: null, chart: '' })).toBe(expected);
  });

  it.each([
    { mom: 1.289, band: 'no-signal' },
    { mom: 1.29, band: 'mild' },
    { mom: 1.499, band: 'mild' },
    { mom: 1.5, band: 'moderate-to-severe' },
    { mom: 1.55, band: 'severe' },
  ])('MCA-PSV of $mom MoM: $band', ({ mom, band }) => {
    expect(anaemiaBand(mom)).toBe(band);
  });

  it('an anaemia of which only the degree is open is the summary', () => {
    // 1.63 MoM, of which the interval is from 1.52 to 1.74.
    const artery = spectrum('middle-cerebral-artery', { psv: 66, edv: 15, tamx: 28 });
    const { value, category, findings, guidance, classifications } = run([artery], 210);
    expect(value('middle-cerebral-artery-psv-mom')).toMatchObject({ interpretation: 'H' });
    expect(findings?.map(({ id }) => id)).toContain('fetal-anaemia-signal');
    expect(classifications).toContainEqual(
      expect.objectContaining({ id: 'fetal-anaemia-signal', value: 'moderate-to-severe' }),
    );
    expect(category).toBe('anaemia-flag');
    expect(guidance?.map(({ id }) => id)).toEqual(['doppler-anaemia-flag']);
  });

  it('MCA-PSV at 30 weeks, median 40.5: flagged where its interval of 7 % is above 52.2 or 60.75', () => {
    const at = (psv: number) =>
      run([spectrum('middle-cerebral-artery', { psv, edv: 10, tamx: 25 })], 210).findings?.find(
        ({ id }) => id === 'fetal-anaemia-signal',
      )?.severity;
    expect(at(52.245 / 0.93 - 0.05)).toBeUndefined();
    expect(at(52.245 / 0.93 + 0.05)).toBe('info');
    expect(at(60.75 / 0.93 - 0.05)).toBe('info');
    expect(at(60.75 / 0.93 + 0.05)).toBe('abnormal');
  });

  it('the summary is not normal if the interval of CPR, MCA-PI or MCA-PSV includes its cut-off', () => {
    // At 32 weeks: UA-PI 0.98, 5th centile of the MCA-PI 1.51 and of the CPR 1.43, median PSV 44.4.
    const umbilical = spectrum('umbilical-artery', { psv: 40, edv: 16, tamx: 24.5 });
    const withMca = (pi: number, psv = 45) =>
      run([
        umbilical,
        spectrum('middle-cerebral-artery', { psv, edv: psv / 4, tamx: (0.75 * psv) / pi }),
      ]);
    expect(withMca(1.9).category).toBe('normal');
    const undecided = withMca(1.6);
    expect(undecided.summary).toContain('measure by hand');
    expect(undecided.category).toBe('not-assessed');
    const summary = undecided.classifications?.find(({ id }) => id === 'fetal-doppler');
    expect(summary?.criteria.map(({ outcome }) => outcome)).toEqual([
      'not_met',
      'not_met',
      'at_cut_off',
    ]);
    expect(withMca(1.9, 1.5 * 44.4).category).toBe('not-assessed');
  });

  it('an angle above 15 degrees: no multiple of the median', () => {
    const at = (correctionAngle: number) =>
      run([spectrum('middle-cerebral-artery', { edv: 5 }, { correctionAngle })]).value(
        'middle-cerebral-artery-psv-mom',
      );
    expect(at(15)).not.toBeNull();
    expect(at(16)).toBeNull();
    const oblique = run([spectrum('middle-cerebral-artery', {}, { correctionAngle: -16 })]);
    expect(oblique.summary).toContain('above 15°');
  });

  it.each([18 * 7 - 1, 40 * 7 + 1])('MCA-PSV at %i days is outside its chart', (days) => {
    const { value, summary } = run([spectrum('middle-cerebral-artery')], days);
    expect(value('middle-cerebral-artery-psv-mom')).toBeNull();
    expect(summary).toContain('gestational age is outside its chart');
  });

  it('a PI at an age outside its chart is given without a percentile, which is reported', () => {
    const { value, summary } = run([spectrum('umbilical-artery')], 139);
    expect(value('umbilical-artery-pi')).toMatchObject({ quality: 'accepted', reference: null });
    expect(summary).toContain('outside the chart for: umbilical artery PI');
  });

  it('a side in the header does not prevent the ratio of a brain vessel', () => {
    const right = { laterality: 'right' } as const;
    const { value } = run([
      spectrum('umbilical-artery'),
      spectrum('middle-cerebral-artery', {}, right),
    ]);
    expect(value('middle-cerebral-artery-pi')?.note).toContain('right side');
    expect(value('cerebroplacental-ratio')?.value).toBeCloseTo(1, 10);
  });

  it.each([
    { pi: 1.13, near: true },
    { pi: 1.12, near: false },
    { pi: 1.37, near: true },
    { pi: 1.39, near: false },
  ])('PI $pi, known to 10 %, near the 95th centile of 1.239: $near', ({ pi, near }) => {
    const wave = { psv: 40, edv: 40 - 20 * pi, tamx: 20 };
    const { summary } = run([spectrum('umbilical-artery', { ...wave, endFlow: 'forward' })]);
    const sides = 'at a cut-off: within the usual range or above the usual range';
    expect(summary?.includes(sides)).toBe(near);
  });

  it.each([
    { psv: 60, branch: true },
    { psv: 60.1, branch: false },
  ])('a uterine peak of $psv cm/s may be of a branch: $branch', ({ psv, branch }) => {
    const wave = { psv, edv: 25, tamx: 35, rate: 80 };
    const { value } = run([spectrum('uterine-artery', wave, { laterality: 'left' })]);
    const note = value('uterine-artery-psv-left')?.note ?? '';
    expect(note.includes('branch of the artery')).toBe(branch);
  });

  it.each([
    ['middle-cerebral-artery', 'left', 'left side'],
    ['middle-cerebral-artery', null, null],
    ['uterine-artery', 'left', null],
  ] as const)('the note of a trace of the %s, %s, states the side: %s', (vessel, side, said) => {
    const { measurements = [] } = run([spectrum(vessel, {}, { laterality: side })]);
    const [pi] = measurements.filter(({ concept }) => concept.key === `${vessel}-pi`);
    expect(pi?.note?.match(/(left|null) side/)?.[0] ?? null).toBe(said);
  });

  it('the mean of both sides needs both sides', () => {
    const side = (laterality: 'left' | 'right', tamx: number) =>
      spectrum('uterine-artery', { tamx, rate: 80 }, { laterality });
    const one = run([side('left', 22.1)]);
    expect(one.value('uterine-artery-mean-pi')).toBeNull();
    expect(one.summary).toContain('The mean PI of both uterine arteries was not assessed');
    const both = run([side('left', 22.1), side('right', 33.9)]);
    expect(both.value('uterine-artery-mean-pi')?.value).toBeCloseTo((33.9 / 22.1 + 1) / 2, 6);
  });
});

const must = <T>(value: T | null): T => {
  if (value === null) throw new Error('no reference');
  return value;
};

describe('flow over the beats', () => {
  const beats = (...flows: BeatVelocities['endFlow'][]) =>
    flows.map((endFlow) => beatOf({ endFlow }));

  it.each([
    { flows: beats('forward', 'forward'), flow: 'forward' },
    { flows: beats('absent', 'forward'), flow: 'intermittent-absent' },
    { flows: beats('absent', 'absent', 'forward'), flow: 'absent' },
    { flows: beats('reversed', 'absent', 'forward'), flow: 'absent' },
    { flows: beats('reversed', 'reversed', 'forward'), flow: 'reversed' },
  ])('umbilical: $flow', ({ flows, flow }) => {
    expect(endDiastolicFlow(flows)).toBe(flow);
  });

  it('none without beats', () => {
    expect(endDiastolicFlow([])).toBeNull();
    expect(aWave([], 1)).toBeNull();
  });

  it.each([
    { edv: 1, wave: 'positive' },
    { edv: 0.99, wave: 'absent' },
    { edv: -0.99, wave: 'absent' },
    { edv: -1, wave: 'reversed' },
  ])('a-wave of $edv cm/s where 1 is hidden: $wave', ({ edv, wave }) => {
    expect(aWave([beatOf({ edv })], 1)).toBe(wave);
  });

  it.each([
    [[5, 5, 0, 0], 'positive'],
    [[5, 0, 0], 'absent'],
    [[0, 0, -5, -5], 'absent'],
    [[0, -5, -5], 'reversed'],
  ])('a-waves of %j cm/s are %s: it needs more than half of the beats', (beats, wave) => {
    expect(
      aWave(
        beats.map((edv) => beatOf({ edv })),
        1,
      ),
    ).toBe(wave);
  });

  it('the most severe state determines the category', () => {
    const calm = {
      flow: 'forward',
      suspected: false,
      umbilicalPi: 'N',
      cerebralPi: 'N',
      cpr: 'N',
      aWave: null,
      anaemia: null,
      atCutOff: false,
    } as const;
    expect(dopplerSummary(calm)).toBe('normal');
    expect(dopplerSummary({ ...calm, atCutOff: true })).toBe('not-assessed');
    expect(dopplerSummary({ ...calm, umbilicalPi: null })).toBe('not-assessed');
    expect(dopplerSummary({ ...calm, flow: 'not-assessable' })).toBe('not-assessed');
    expect(dopplerSummary({ ...calm, suspected: true })).toBe('not-assessed');
    expect(dopplerSummary({ ...calm, aWave: 'not-assessable' })).toBe('not-assessed');
    expect(dopplerSummary({ ...calm, flow: 'intermittent-absent' })).toBe('abnormal-ua');
    expect(dopplerSummary({ ...calm, anaemia: 'severe' })).toBe('anaemia-flag');
    expect(dopplerSummary({ ...calm, anaemia: 'severe', cpr: 'L' })).toBe('redistribution');
    expect(dopplerSummary({ ...calm, umbilicalPi: 'H', cpr: 'L' })).toBe('abnormal-ua');
    expect(dopplerSummary({ ...calm, umbilicalPi: 'H', aWave: 'absent' })).toBe('dv-abnormal');
    expect(dopplerSummary({ ...calm, flow: 'absent', aWave: 'reversed' })).toBe('aedf');
    expect(dopplerSummary({ ...calm, flow: 'reversed' })).toBe('redf');
  });
});

describe('the vessel is the one stated in the header', () => {
  const named = (viewName: string | null, anatomicRegion: string | null = null) =>
    ({ viewName, anatomicRegion, stageName: null, laterality: null }) as const;

  it.each([
    { name: 'UA', vessel: 'umbilical-artery' },
    { name: 'Umb Art', vessel: 'umbilical-artery' },
    { name: 'MCA PSV', vessel: 'middle-cerebral-artery' },
    { name: 'Lt Uterine A', vessel: 'uterine-artery' },
    { name: 'DV', vessel: 'ductus-venosus' },
    { name: 'DVP', vessel: null },
    { name: 'Umb Vein', vessel: null },
    { name: 'UA and MCA', vessel: null },
    { name: 'LVOT', vessel: null },
    { name: null, vessel: null },
  ])('$name: $vessel', ({ name, vessel }) => {
    expect(vesselOf(named(name))).toBe(vessel);
  });

  it('a code takes precedence over words', () => {
    expect(vesselOf(named('DV', 'SCT:50536004'))).toBe('umbilical-artery');
  });

  it('the side is read from a word or an attribute, and not if both occur', () => {
    expect(lateralityOf(named('Lt Uterine A'))).toBe('left');
    expect(lateralityOf(named('RT UT A'))).toBe('right');
    expect(lateralityOf(named('Uterine A'))).toBeNull();
    expect(lateralityOf(named('left right'))).toBeNull();
  });
});
