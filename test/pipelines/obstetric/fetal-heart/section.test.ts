import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import { fetalRateBand } from '../../../../pipelines/obstetric/fetal-heart/guideline.ts';
import { fetalHeartReader } from '../../../../pipelines/obstetric/fetal-heart/read.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type { Locator } from '../../../../pipelines/obstetric/locator.ts';
import type { FramePlane, Plane } from '../../../../pipelines/obstetric/shared/plane.ts';
import type { ReaderInput } from '../../../../pipelines/obstetric/shared/reader.ts';
import { clip, NO_MODELS } from '../evidence-sample.ts';
import { BEATING, run } from './fetal-heart-sample.ts';

const CINE: CardiacActivity = {
  status: 'beating',
  beatsPerMinute: 150,
  uncertainty: 2,
  strength: 0.8,
};

describe('fetal heart rate', () => {
  it('of an M-mode takes precedence over that of a cine, and both are kept', () => {
    const outcome = run({ mMode: [BEATING], cines: [CINE] });
    expect(outcome.rate).toMatchObject({ value: 145, confidence: 0.8 });
    expect(outcome.measurements).toHaveLength(2);
    expect(outcome.summary).toContain('The beats on the sweep were regular.');
  });

  it('of a cine alone has no rhythm', () => {
    const { rate, summary } = run({ cines: [CINE] });
    expect(rate?.value).toBe(150);
    expect(summary).toContain('Rhythm was not assessed.');
  });

  it('whose beats could not be separated is not accepted', () => {
    const outcome = run({ mMode: [{ ...BEATING, variation: null }] });
    expect(outcome.rate).toBeNull();
    expect(outcome.measurements?.[0]?.quality).toBe('low');
  });

  it.each([
    { rate: 109.9, band: 'slow' },
    { rate: 110, band: 'normal' },
    { rate: 160, band: 'normal' },
    { rate: 160.1, band: 'fast' },
    { rate: 180, band: 'fast' },
    { rate: 180.1, band: 'tachycardia' },
  ])('$rate per minute at 22 weeks: $band', ({ rate, band }) => {
    expect(fetalRateBand(154, rate)).toBe(band);
  });

  it.each([
    { limit: 110, sides: ['slow', 'normal'] },
    { limit: 160, sides: ['normal', 'fast'] },
    { limit: 180, sides: ['fast', 'tachycardia'] },
  ])('has a band if its interval does not contain $limit', ({ limit, sides: [low, high] }) => {
    const at = (rate: number) => run({ mMode: [{ ...BEATING, beatsPerMinute: rate }] });
    const half = at(limit).rate?.uncertainty ?? Number.NaN;
    const bandAt = (rate: number) =>
      at(rate).classifications?.find(({ id }) => id === 'fetal-heart-rate-band')?.value;
    expect(half).toBeGreaterThan(0);
    expect(bandAt(limit - half - 0.01)).toBe(low);
    expect(bandAt(limit - half + 0.01)).toBeUndefined();
    expect(bandAt(limit + half - 0.01)).toBeUndefined();
    expect(bandAt(limit + half + 0.01)).toBe(high);
    // The rate is either fast or tachycardia, and both are abnormal.
    expect(at(limit).findings).toHaveLength(low === 'fast' ? 1 : 0);
  });

  it("has the embryo's bands before 14 weeks", () => {
    expect(fetalRateBand(97, 170)).toBe('normal');
    expect(fetalRateBand(98, 170)).toBe('fast');
    expect(fetalRateBand(97, 119)).toBe('slow');
    expect(fetalRateBand(97, 125)).toBe('borderline');
    expect(run({ mMode: [{ ...BEATING, beatsPerMinute: 125 }], gaDays: 97 }).findings).toEqual([
      expect.objectContaining({ severity: 'info', text: expect.stringContaining('lower border') }),
    ]);
  });

  it.each([
    { rate: 112, doubt: true },
    { rate: 113, doubt: false },
    { rate: 157, doubt: false },
    { rate: 158, doubt: true },
  ])(
    '$rate per minute +/- 3 is not certain to be on one side of a limit: $doubt',
    ({ rate, doubt }) => {
      const { summary } = run({ mMode: [{ ...BEATING, beatsPerMinute: rate }] });
      expect(summary?.includes('measure by hand')).toBe(doubt);
    },
  );

  it.each([
    { variation: 0.1, findings: 0 },
    { variation: 0.11, findings: 1 },
  ])('beats that differ by $variation: $findings findings', ({ variation, findings }) => {
    const outcome = run({ mMode: [{ ...BEATING, variation }] });
    expect(outcome.findings?.filter(({ id }) => id === 'fetal-heart-rhythm')).toHaveLength(
      findings,
    );
  });

  it('of a sweep in a study without a fetus is listed but not used: it may be an adult heart', () => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: 70 }], fetal: false });
    expect(outcome.rate).toBeNull();
    expect(outcome.measurements?.[0]).toMatchObject({ quality: 'low' });
    expect(outcome.findings).toEqual([]);
  });

  it('at 10 weeks has no band, which is stated', () => {
    expect(run({ mMode: [BEATING], gaDays: 72 }).summary).toContain('no range is known');
  });

  it('without a gestational age has no range', () => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: 185 }], gaDays: null });
    expect(outcome.rate?.value).toBe(185);
    expect(outcome.classifications).toEqual([]);
    expect(outcome.findings).toEqual([]);
  });

  it.each([
    { gaDays: null, rate: 86.9, band: 'slow-at-any-age' },
    { gaDays: null, rate: 87.1, band: undefined },
    { gaDays: 72, rate: 86.9, band: 'slow-at-any-age' },
    { gaDays: 72, rate: 87.1, band: undefined },
    { gaDays: 154, rate: 86.9, band: 'slow' },
    { gaDays: null, rate: 193.1, band: 'fast-at-any-age' },
    { gaDays: null, rate: 192.9, band: undefined },
    { gaDays: 72, rate: 193.1, band: 'fast-at-any-age' },
    { gaDays: 42, rate: 193.1, band: 'fast' },
    { gaDays: 154, rate: 193.1, band: 'tachycardia' },
  ])('$rate +/- 3 per minute at $gaDays days: $band', ({ gaDays, rate, band }) => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: rate }], gaDays });
    expect(outcome.classifications?.map(({ value }) => value)).toEqual(band ? [band] : []);
    expect(outcome.findings?.map(({ severity }) => severity)).toEqual(band ? ['abnormal'] : []);
  });

  it('that is slow at any age says so, and names the source of the limit', () => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: 60 }], gaDays: null });
    expect(outcome.summary).toContain('Fetal heart rate 60/min, slow at any gestational age.');
    expect(outcome.classifications?.[0]?.scheme).toBe('Doubilet and Benson 1995');
  });

  it('that is fast at any age says so, and names the source of the limit', () => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: 230 }], gaDays: null });
    expect(outcome.summary).toContain('Fetal heart rate 230/min, fast at any gestational age.');
    expect(outcome.findings?.[0]?.text).toContain('fast at any gestational age; confirm over time');
    expect(outcome.classifications?.[0]?.scheme).toBe('Doubilet and Benson 1995');
  });

  it('outside 40 to 260 per minute is implausible', () => {
    expect(run({ mMode: [{ ...BEATING, beatsPerMinute: 39 }] }).rate).toBeNull();
    expect(run({ mMode: [{ ...BEATING, beatsPerMinute: 40 }] }).rate?.value).toBe(40);
  });

  it('is not measured if nothing was seen to beat', () => {
    const outcome = run({ chestFrames: 1, cines: [{ status: 'not-seen' }] });
    expect(outcome.measurements).toEqual([]);
    expect(outcome.summary).toContain('Fetal heart rate was not measured.');
  });
});

describe('views', () => {
  const seen = {
    view: 'four-chamber',
    file: 'a.dcm',
    frame: 0,
    by: 'classifier',
    confidence: 0.9,
  } as const;

  it('no view and no sweep: not assessed, and nothing is called normal', () => {
    const outcome = run();
    expect(outcome).toMatchObject({ status: 'not_assessed', reason: { code: 'view_missing' } });
    expect(outcome.summary).not.toContain('normal');
    expect(outcome.summary).toContain('no cine of the chest and no M-mode was found');
  });

  it('one view is never a whole heart: the section stays partial and lists the rest', () => {
    const outcome = run({ views: [seen], mMode: [BEATING] });
    expect(outcome.status).toBe('partial');
    expect(outcome.summary).toContain('Seen: four-chamber view.');
    expect(outcome.summary).toContain('recognised only by the image names from the machine');
    expect(outcome.summary).toContain('not named: left outflow tract');
    expect(outcome.summary).toContain('valves, veins, flow and outflow tracts were not assessed');
  });

  it("a name is the machine's word, and not a view that was recognized", () => {
    const outcome = run({ views: [{ ...seen, by: 'named', confidence: null }] });
    expect(outcome.data?.views).toMatchObject({ 'four-chamber': 'named-by-machine' });
  });

  const input = (clips: Clip[], labels: Plane[] = []): ReaderInput<Locator> => ({
    study: { clips, refused: [], files: clips.length, series: 1 },
    planes: clips.map(
      (one, i): FramePlane => ({
        clip: one,
        frame: one.frames[0] as FramePlane['frame'],
        estimate: { label: labels[i] ?? 'other', confidence: 0.9 },
      }),
    ),
    options: parseOptions({}),
    locator: NO_MODELS,
    signal: new AbortController().signal,
  });

  it('come from the classifier, or from the words of the machine', async () => {
    const clips = [
      clip('a.dcm'),
      clip('b.dcm', { viewName: 'LVOT' }),
      clip('c.dcm', { viewName: '3VT' }),
      clip('d.dcm'),
    ];
    const found = await fetalHeartReader.read(
      input(clips, ['four-chamber', 'other', 'other', 'thorax']),
    );
    expect(found.views.map(({ view, by, file }) => [view, by, file])).toEqual([
      ['four-chamber', 'classifier', 'a.dcm'],
      ['left-outflow-tract', 'named', 'b.dcm'],
      ['three-vessel-trachea', 'named', 'c.dcm'],
    ]);
    expect(found.chestFrames).toBe(1);
  });

  it('outline the heart only on a four-chamber view, not on any section of the chest', async () => {
    const clips = [clip('a.dcm'), clip('b.dcm'), clip('c.dcm', { viewName: '4CH' })];
    const given = input(clips, ['four-chamber', 'thorax', 'thorax']);
    const chest = async () => [null];
    const found = await fetalHeartReader.read({ ...given, locator: { ...NO_MODELS, chest } });
    expect(found.chests?.map((one) => one.clip.file)).toEqual(['a.dcm', 'c.dcm']);
  });

  it('do not exist for images without either', async () => {
    const found = await fetalHeartReader.read(input([clip('a.dcm')]));
    expect(found).toEqual({ chests: null, views: [], chestFrames: 0, mMode: [] });
  });
});
