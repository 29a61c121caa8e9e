import { describe, expect, it } from 'vitest';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import { fromMachine, spectrum, traced } from '../doppler/doppler-sample.ts';
import { BEATING, type Given, run } from './fetal-heart-sample.ts';

type Outcome = ReturnType<typeof run>;
const ofDoppler = (rate: number, fetus: string | null = null) =>
  spectrum('umbilical-artery', { rate }, { fetus });
const reported = (rate: number, fetus: string | null = null) => ({
  ...fromMachine('fetal-heart-rate', rate),
  fetus,
});
const textsOf = ({ findings }: Outcome, id: string) =>
  findings?.filter((one) => one.id.startsWith(id)).map(({ text }) => text) ?? [];
const bandOf = ({ classifications }: Outcome) =>
  classifications?.find(({ id }) => id === 'fetal-heart-rate-band');

describe('sources of the fetal heart rate that differ', () => {
  const sources = (mMode: number, doppler: number) =>
    run({ mMode: [{ ...BEATING, beatsPerMinute: mMode }], spectra: [ofDoppler(doppler)] });

  it('an M-mode of 140 does not hide a Doppler of 75', () => {
    const outcome = sources(140, 75);
    expect(outcome.rate?.value).toBe(140);
    expect(bandOf(outcome)?.value).toBe('slow');
    expect(textsOf(outcome, 'fetal-heart-rate-band')[0]).toContain('75/min (Doppler), below');
    expect(outcome.findings?.find(({ id }) => id === 'fetal-heart-rate-sources')).toMatchObject({
      severity: 'abnormal',
      text: expect.stringContaining('M-mode 140/min'),
    });
  });

  it.each([
    { doppler: 146, severity: undefined },
    { doppler: 146.1, severity: 'info' },
    { doppler: 134, severity: undefined },
    { doppler: 133.9, severity: 'info' },
  ])('140 and $doppler, each +/- 3, in one band: $severity', ({ doppler, severity }) => {
    const found = sources(140, doppler).findings?.find(
      ({ id }) => id === 'fetal-heart-rate-sources',
    );
    expect(found?.severity).toBe(severity);
  });

  it('on two sides of a limit within both intervals: no band, and both sides are stated', () => {
    const outcome = sources(159, 162);
    expect(bandOf(outcome)).toBeUndefined();
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('at a cut-off: normal or fast; measure by hand');
  });

  it.each([
    [112, 130],
    [130, 112],
  ])('M-mode %i and Doppler %i, each +/- 3: not normal, as 112 may be slow', (mMode, doppler) => {
    const outcome = sources(mMode, doppler);
    expect(bandOf(outcome)).toBeUndefined();
    expect(outcome.summary).toContain('at a cut-off: slow or normal; measure by hand');
  });

  it('of two fetuses do not contradict each other, and each is evaluated', () => {
    const outcome = run({ spectra: [ofDoppler(140, 'A'), ofDoppler(75, 'B')] });
    expect(textsOf(outcome, 'fetal-heart-rate-sources')).toEqual([]);
    expect(textsOf(outcome, 'fetal-heart-rate-band')).toEqual([
      expect.stringContaining('Fetus B: Fetal heart rate 75/min'),
    ]);
    expect(
      outcome.classifications
        ?.filter(({ id }) => id.startsWith('fetal-heart-rate-band'))
        .map(({ id, value }) => [id, value]),
    ).toEqual([
      ['fetal-heart-rate-band-fetus-a', 'normal'],
      ['fetal-heart-rate-band-fetus-b', 'slow'],
    ]);
    expect(outcome.measurements?.map(({ id, fetus }) => [id, fetus])).toEqual([
      ['fetal-heart-rate-fetus-a', 'A'],
      ['fetal-heart-rate-fetus-b', 'B'],
    ]);
  });

  it("one without a fetus's label next to one with a label is evaluated alone", () => {
    const outcome = run({ spectra: [ofDoppler(140, 'A'), ofDoppler(75)] });
    expect(textsOf(outcome, 'fetal-heart-rate-sources')).toEqual([]);
    expect(textsOf(outcome, 'fetal-heart-rate-band')).toEqual([
      expect.stringContaining('Unnamed fetus: Fetal heart rate 75/min'),
    ]);
  });
});

describe("the machine's heart rate", () => {
  it.each([
    { rate: 109, band: 'slow' },
    { rate: 110, band: 'normal' },
    { rate: 161, band: 'fast' },
  ])('$rate counts if ours does not, and is evaluated: $band', ({ rate, band }) => {
    const outcome = run({ cart: [reported(rate)] });
    expect(outcome.rate).toMatchObject({ value: rate, source: { provenance: 'cart-sr' } });
    expect(outcome.summary).toContain(`Fetal heart rate ${rate}/min (ultrasound machine)`);
    expect(bandOf(outcome)?.value).toBe(band);
  });

  it.each([[[140, 70]], [[70, 140]]])(
    'if two differ (%j), each is evaluated, so the slow one is not hidden',
    (rates) => {
      const outcome = run({ cart: rates.map((rate) => reported(rate)) });
      const values = outcome.measurements?.filter(({ id }) => id.includes('fetal-heart-rate'));
      expect(values?.map(({ value }) => value)).toEqual(rates);
      expect(values?.some(({ note }) => note?.includes('not judged'))).toBe(false);
      expect(bandOf(outcome)?.value).toBe('slow');
      expect(textsOf(outcome, 'fetal-heart-rate-band')[0]).toContain('70/min');
      expect(textsOf(outcome, 'fetal-heart-rate-sources')).toHaveLength(1);
    },
  );

  it('is shown with ours and the difference', () => {
    const outcome = run({ mMode: [BEATING], cart: [reported(70)] });
    expect(outcome.rate?.value).toBe(145);
    const machine = outcome.measurements?.find(({ id }) => id === 'cart-fetal-heart-rate');
    expect(machine?.note).toContain('51.7 % below');
    expect(bandOf(outcome)?.value).toBe('slow');
  });

  it('beyond its limits is not evaluated', () => {
    const outcome = run({ cart: [reported(1400)] });
    expect(outcome.rate).toBeNull();
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('Fetal heart rate was not measured.');
  });

  it('of two fetuses is evaluated for each', () => {
    const outcome = run({ cart: [reported(140, 'A'), reported(70, 'B')] });
    expect(textsOf(outcome, 'fetal-heart-rate-band')).toEqual([
      expect.stringContaining('Fetus B: Fetal heart rate 70/min (ultrasound machine), below'),
    ]);
  });
});

describe('rhythm', () => {
  const beats = (alike: number, seen: number, variationSeen: number) => {
    const waveform = { ...traced({ beats: alike }), beatsSeen: seen, variationSeen };
    return run({ spectra: [spectrum('umbilical-artery', waveform)] });
  };

  it.each([
    { variation: 0.1, regular: true },
    { variation: 0.101, regular: false },
  ])('is that of all visible beats, $variation: regular $regular', ({ variation, regular }) => {
    const outcome = beats(4, 7, variation);
    expect(outcome.summary?.includes('were regular')).toBe(regular);
    expect(outcome.summary).toContain('4 of 7 beats were similar');
    expect(textsOf(outcome, 'fetal-heart-rhythm')).toHaveLength(regular ? 0 : 1);
    if (!regular) expect(outcome.summary).toContain('differed by 10.1 %, more than 10 %');
  });

  it('of beats that are all similar is regular without a count', () => {
    const { summary } = beats(7, 7, 0.02);
    expect(summary).toContain('The beats on the sweep were regular.');
    expect(summary).not.toContain('7 of 7');
  });

  it('of a spectrum with fewer than half of its beats similar is not skipped', () => {
    const { summary, rate } = run({
      spectra: [spectrum('umbilical-artery', { status: 'refused', reason: 'beats-differ' })],
    });
    expect(rate).toBeNull();
    expect(summary).toContain('the rhythm is irregular or the trace unreliable');
  });
});

describe('a sweep on which nothing beats', () => {
  const silent = { status: 'not-seen', strength: 0 } as const;
  const cine: CardiacActivity = {
    status: 'beating',
    beatsPerMinute: 150,
    uncertainty: 2,
    strength: 0.8,
  };
  const critical = (given: Given) =>
    run(given).findings?.filter(({ severity }) => severity === 'critical') ?? [];

  it('of a fetus is reported like a silent cine', () => {
    expect(critical({ mMode: [silent] }).map(({ id, text }) => [id, text])).toEqual([
      ['cardiac-activity', expect.stringContaining('second observer is required')],
    ]);
    const { summary, status } = run({ mMode: [silent] });
    expect(status).toBe('partial');
    expect(summary).toContain('An M-mode shows no repeating beat');
    expect(summary).not.toContain('no M-mode was found');
  });

  it.each([
    { what: 'not known to be of a fetus', given: { mMode: [silent], fetal: false } },
    { what: 'beside a cine that beats', given: { mMode: [silent], cines: [cine] } },
    { what: 'beside a sweep that beats', given: { mMode: [silent, BEATING] } },
  ])('$what: nothing is found', ({ given }) => {
    expect(critical(given)).toEqual([]);
  });

  it.each([
    { rate: 109, found: 1 },
    { rate: 110, found: 0 },
  ])("with a Doppler of $rate, which below 110 may be the mother's: $found", ({ rate, found }) => {
    expect(critical({ mMode: [silent], spectra: [ofDoppler(rate)] })).toHaveLength(found);
  });

  it('that could not be read is not called missing', () => {
    const unread = { status: 'not-assessable', reason: 'too-short' } as const;
    expect(run({ mMode: [unread] }).summary).toContain('no readable M-mode');
    expect(run({ mMode: [unread] }).summary).toContain('too short to show a slow heartbeat');
    expect(critical({ mMode: [unread] })).toEqual([]);
    expect(run({}).summary).toContain('no cine of the chest and no M-mode was found');
  });
});

describe('the display of a rate and its range', () => {
  const at = (rate: number, gaDays = 154) =>
    run({ mMode: [{ ...BEATING, beatsPerMinute: rate }], gaDays });

  it.each([
    { rate: 109.7, text: '109.7/min, at a cut-off: slow or normal' },
    { rate: 160.4, text: '160.4/min, at a cut-off: normal or fast' },
    { rate: 110.3, text: '110.3/min, at a cut-off: slow or normal' },
    { rate: 180.3, text: '180.3/min, at a cut-off: fast or tachycardia' },
    { rate: 171.4, text: '171/min, above' },
  ])('$rate is printed on its side of the limit', ({ rate, text }) => {
    expect(at(rate).summary).toContain(text);
  });

  it.each([
    { gaDays: 49, scheme: 'Doubilet and Benson 1995', remark: false },
    { gaDays: 50, scheme: 'recalled, not verified', remark: true },
    { gaDays: 69, scheme: 'recalled, not verified', remark: true },
    { gaDays: 77, scheme: 'FMF, 11+0 to 13+6 weeks', remark: false },
    { gaDays: 97, scheme: 'FMF, 11+0 to 13+6 weeks', remark: false },
    { gaDays: 98, scheme: 'ISUOG 2023', remark: false },
  ])('the range at $gaDays days is of $scheme', ({ gaDays, scheme, remark }) => {
    const outcome = at(100, gaDays);
    expect(bandOf(outcome)?.scheme).toContain(scheme);
    const [text = ''] = textsOf(outcome, 'fetal-heart-rate-band');
    expect(text.includes('was not verified against its source')).toBe(remark);
  });
});
