import { describe, expect, it } from 'vitest';
import type { ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import { fromMachine, run, spectrum, traced } from './doppler-sample.ts';

const REVERSED = { psv: 40, edv: -5, tamx: 11 };
const LOST = { psv: 40, edv: 0, tamx: 14 };

type Outcome = ReturnType<typeof run>;
const flowOf = ({ classifications }: Outcome) =>
  classifications?.find(({ id }) => id === 'end-diastolic-flow')?.value ?? null;
const finding = ({ findings }: Outcome, id: string) =>
  findings?.find((one) => one.id === id) ?? null;

describe('each loop of an umbilical artery is evaluated separately', () => {
  it('reversed flow in one loop is not outvoted by the beats of another', () => {
    const outcome = run([
      spectrum('umbilical-artery', { ...REVERSED, beats: 3 }),
      spectrum('umbilical-artery', { beats: 5 }),
    ]);
    expect(outcome.category).toBe('redf');
    expect(flowOf(outcome)).toBe('reversed');
    expect(finding(outcome, 'end-diastolic-flow')).toMatchObject({ severity: 'critical' });
    expect(finding(outcome, 'end-diastolic-flow')?.text).toContain('forward in another spectrum');
  });

  it.each([
    { loops: [LOST, REVERSED], flow: 'reversed', differs: 'absent in another spectrum' },
    { loops: [LOST, {}], flow: 'absent', differs: 'forward in another spectrum' },
    { loops: [LOST, LOST], flow: 'absent', differs: null },
    { loops: [{}, {}], flow: 'forward', differs: null },
  ])(
    '$flow comes first, and another spectrum is mentioned: $differs',
    ({ loops, flow, differs }) => {
      const outcome = run(loops.map((wave) => spectrum('umbilical-artery', wave)));
      expect(flowOf(outcome)).toBe(flow);
      expect(outcome.summary?.includes('another spectrum')).toBe(differs !== null);
      if (differs) expect(outcome.summary).toContain(differs);
    },
  );

  it.each([
    { beats: 2, severity: 'abnormal', category: 'not-assessed' },
    { beats: 3, severity: 'critical', category: 'redf' },
  ])('reversed flow in $beats beats is reported: $severity', ({ beats, severity, category }) => {
    const outcome = run([spectrum('umbilical-artery', { ...REVERSED, beats })]);
    expect(outcome.category).toBe(category);
    expect(finding(outcome, 'end-diastolic-flow')?.severity).toBe(severity);
    const suspected = finding(outcome, 'end-diastolic-flow')?.text?.includes('is suspected');
    expect(suspected).toBe(beats === 2);
  });

  it('a suspicion on a short trace keeps a good one from being normal', () => {
    const forward = spectrum('umbilical-artery', { edv: 20.2, tamx: 25 });
    expect(run([forward]).category).toBe('normal');
    const outcome = run([forward, spectrum('umbilical-artery', { ...LOST, beats: 2 })]);
    expect(outcome.category).toBe('not-assessed');
    expect(outcome.findings?.map(({ severity }) => severity)).toEqual(['abnormal']);
  });

  it('a poor trace states what is wrong with it, and not that none was supplied', () => {
    const { summary } = run([
      spectrum('umbilical-artery', { beats: 2 }),
      spectrum('middle-cerebral-artery', {
        ...traced(),
        status: 'refused',
        reason: 'aliased',
      }),
    ]);
    expect(summary).toContain('The umbilical artery trace is too poor to categorise: fewer than 3');
    expect(summary).toContain('The MCA spectrum was not measured: the flow is aliased');
    expect(summary).not.toMatch(/(Umbilical artery|MCA) Doppler was not supplied/);
  });
});

describe('end-diastolic flow in early pregnancy', () => {
  const lastUsualDay = 16 * 7 - 1;

  it.each([
    { wave: LOST, gaDays: lastUsualDay, severity: undefined, flow: null },
    { wave: LOST, gaDays: lastUsualDay + 1, severity: 'critical', flow: 'absent' },
    { wave: LOST, gaDays: null, severity: 'critical', flow: 'absent' },
    { wave: { ...LOST, vanishesAt: 5 }, gaDays: lastUsualDay, severity: undefined, flow: null },
    { wave: { ...LOST, beats: 2 }, gaDays: lastUsualDay, severity: undefined, flow: null },
    { wave: REVERSED, gaDays: lastUsualDay, severity: 'critical', flow: 'reversed' },
    { wave: { ...REVERSED, beats: 2 }, gaDays: lastUsualDay, severity: 'abnormal', flow: null },
  ])('$wave at $gaDays days: $severity', ({ wave, gaDays, severity, flow }) => {
    const outcome = run([spectrum('umbilical-artery', wave)], gaDays);
    expect(finding(outcome, 'end-diastolic-flow')?.severity).toBe(severity);
    expect(flowOf(outcome)).toBe(flow);
  });

  it('that is absent is stated as usual, without advice', () => {
    const usual = 'flow: absent; absent flow is usual before 16 weeks.';
    const outcome = run([spectrum('umbilical-artery', LOST)], lastUsualDay);
    expect(outcome.summary).toContain(usual);
    expect(outcome.category).toBe('not-assessed');
    expect(outcome.guidance).toEqual([]);
    expect(run([spectrum('umbilical-artery', LOST)], 224).summary).not.toContain('usual');
  });

  it('that is absent by a value of the machine is no finding either', () => {
    const outcome = run([], lastUsualDay, [fromMachine('umbilical-artery-ri', 1)]);
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('(RI 1.00); absent flow is usual before 16 weeks.');
  });

  it('that is forward is not called absent', () => {
    expect(flowOf(run([spectrum('umbilical-artery')], lastUsualDay))).toBe('forward');
  });
});

describe('a ductus venosus', () => {
  const wave = (edv: number, more = {}) =>
    spectrum('ductus-venosus', { psv: 50, edv, tamx: 25, ...more });
  const told = (outcome: Outcome) => finding(outcome, 'ductus-venosus-a-wave');

  it('with a reversed a-wave in one of two loops: critical', () => {
    const outcome = run([wave(-5, { beats: 3 }), wave(10, { beats: 5 })]);
    expect(outcome.category).toBe('dv-abnormal');
    expect(told(outcome)).toMatchObject({ severity: 'critical' });
    expect(told(outcome)?.text).toContain('reversed a-wave, positive in another spectrum');
  });

  it.each([
    { vanishesAt: 3, text: 'absent a-wave', category: 'dv-abnormal' },
    { vanishesAt: 3.1, text: 'wall filter', category: 'not-assessed' },
  ])('whose flow disappears at $vanishesAt cm/s: $text', ({ vanishesAt, text, category }) => {
    const outcome = run([wave(0, { vanishesAt })]);
    expect(told(outcome)?.text).toContain(text);
    expect(outcome.category).toBe(category);
  });
});

describe("lost end-diastolic flow by the machine's values", () => {
  const of = (values: Partial<Record<ConceptKey, number>>, more = {}) =>
    Object.entries(values).map(([key, value]) => ({
      ...fromMachine(key as ConceptKey, value),
      ...more,
    }));

  it.each([
    { values: { 'umbilical-artery-ri': 0.99 }, flow: 'forward' },
    { values: { 'umbilical-artery-ri': 0.999 }, flow: 'forward' },
    { values: { 'umbilical-artery-ri': 1 }, flow: 'absent' },
    { values: { 'umbilical-artery-ri': 1.01 }, flow: 'reversed' },
    { values: { 'umbilical-artery-edv': 0.1 }, flow: 'forward' },
    { values: { 'umbilical-artery-edv': 0 }, flow: 'absent' },
    { values: { 'umbilical-artery-edv': -0.1 }, flow: 'reversed' },
    { values: { 'umbilical-artery-psv': -40, 'umbilical-artery-edv': -9 }, flow: 'forward' },
    { values: { 'umbilical-artery-psv': -40, 'umbilical-artery-edv': 9 }, flow: 'reversed' },
    { values: { 'umbilical-artery-ri': 0.7, 'umbilical-artery-edv': -9 }, flow: 'forward' },
    { values: { 'umbilical-artery-sd': 3 }, flow: 'forward' },
    { values: { 'umbilical-artery-pi': 1 }, flow: null },
  ])('$values: $flow', ({ values, flow }) => {
    const outcome = run([], 224, of(values));
    expect(flowOf(outcome)).toBe(flow);
    const lost = flow === 'absent' || flow === 'reversed';
    expect(finding(outcome, 'end-diastolic-flow')?.severity).toBe(lost ? 'critical' : undefined);
    if (lost) expect(outcome.summary).toContain('by the values of the ultrasound machine');
  });

  it('takes precedence over a loop that shows forward flow, which is reported', () => {
    const outcome = run([spectrum('umbilical-artery')], 224, of({ 'umbilical-artery-ri': 1.1 }));
    expect(outcome.category).toBe('redf');
    expect(finding(outcome, 'end-diastolic-flow')?.text).toContain(
      '(RI 1.10), forward in the spectrum traced here',
    );
  });

  it.each([
    ['of one fetus', false],
    ['of several fetuses that it does not name', true],
  ])('is not hidden by a median of the repeated RIs %s', (_, several) => {
    const spectra = several ? ['A', 'B'] : [];
    const outcome = run(
      spectra.map((fetus) => spectrum('umbilical-artery', {}, { fetus })),
      224,
      [...of({ 'umbilical-artery-ri': 0.7 }), ...of({ 'umbilical-artery-ri': 1.1 })],
    );
    expect(outcome.findings?.map(({ severity }) => severity)).toContain('critical');
    expect(outcome.summary).toContain('reversed');
  });

  it('is reported for each of several fetuses', () => {
    const cart = [
      ...of({ 'umbilical-artery-ri': 0.7 }, { fetus: 'A' }),
      ...of({ 'umbilical-artery-ri': 1.1 }, { fetus: 'B' }),
    ];
    const outcome = run([], 224, cart);
    expect(outcome.findings?.map(({ text }) => text)).toEqual([
      expect.stringContaining('Fetus B: Umbilical artery: reversed end-diastolic flow'),
    ]);
    expect(outcome.data?.category).toBe('redf');
    expect(outcome.measurements?.map(({ fetus }) => fetus)).toEqual(['A', 'B']);
  });

  it('if it is missing, a PI states that the flow was not assessed', () => {
    const { summary } = run([], 224, of({ 'umbilical-artery-pi': 1 }));
    expect(summary).toContain(
      'Umbilical artery PI is between its 5th and 95th centiles; end-diastolic flow was not assessed.',
    );
    const ri = run([], 224, of({ 'umbilical-artery-pi': 1, 'umbilical-artery-ri': 0.6 }));
    expect(ri.summary).not.toContain('end-diastolic flow was not assessed');
  });

  it('of a pair, the worse counts, whichever comes first, and both are reported', () => {
    const sides = [
      ...of({ 'middle-cerebral-artery-pi': 2 }, { laterality: 'left' }),
      ...of({ 'middle-cerebral-artery-pi': 1 }, { laterality: 'right' }),
    ];
    for (const cart of [sides, sides.toReversed()]) {
      const { value, category, summary } = run([], 224, cart);
      expect(value('middle-cerebral-artery-pi')).toMatchObject({ value: 1, laterality: 'right' });
      expect(category).toBe('redistribution');
      expect(summary).toContain('right 1.00 and left 2.00: the lower was used');
    }
  });
});

describe('one fetus, several, or unknown', () => {
  const umbilical = (fetus: string | null) => spectrum('umbilical-artery', {}, { fetus });
  const cerebral = (fetus: string | null) => spectrum('middle-cerebral-artery', {}, { fetus });
  const reported = (fetus: string | null) => ({
    ...fromMachine('middle-cerebral-artery-pi', 1.5),
    fetus,
  });
  const ratios = ({ measurements }: Outcome) =>
    measurements?.filter(({ concept }) => concept.key === 'cerebroplacental-ratio') ?? [];

  it.each([
    { what: 'B and an MCA without a name', outcome: run([umbilical('B'), cerebral(null)]) },
    {
      what: 'B and an MCA of A by the machine',
      outcome: run([umbilical('B')], 224, [reported('A')]),
    },
    {
      what: 'B and an MCA of nobody by the machine',
      outcome: run([umbilical('B')], 224, [reported(null)]),
    },
    {
      what: 'nobody, with a head of A and one of B by the machine',
      outcome: run([umbilical(null), cerebral(null)], 224, [
        { ...fromMachine('hc', 270), fetus: 'A' },
        { ...fromMachine('hc', 260), fetus: 'B' },
      ]),
    },
  ])('UA of $what: no ratio', ({ outcome }) => {
    expect(ratios(outcome)).toEqual([]);
  });

  it.each([
    { what: 'nobody', outcome: run([umbilical(null), cerebral(null)]), fetus: null },
    { what: 'B', outcome: run([umbilical('B'), cerebral('B')]), fetus: 'B' },
    { what: 'A and 1', outcome: run([umbilical('A')], 224, [reported('1')]), fetus: 'A' },
    {
      what: 'nobody, of 1 by the machine',
      outcome: run([umbilical(null)], 224, [reported('1')]),
      fetus: null,
    },
  ])('UA and MCA of $what: a ratio', ({ outcome, fetus }) => {
    expect(ratios(outcome).map((one) => one.fetus)).toEqual([fetus]);
  });

  it('the only fetus keeps its label on what was measured', () => {
    const { value } = run([umbilical('B')]);
    const named = value('umbilical-artery-pi') ?? value('umbilical-artery-pi-fetus-b');
    expect(named?.fetus).toBe('B');
  });

  it('lost flow of a fetus that no spectrum identifies is critical nevertheless', () => {
    const outcome = run([umbilical('A'), umbilical('B'), spectrum('umbilical-artery', LOST)]);
    const critical = outcome.findings?.filter(({ severity }) => severity === 'critical') ?? [];
    expect(critical.map(({ text }) => text)).toEqual([
      expect.stringContaining('Umbilical artery of an unnamed fetus: absent'),
    ]);
    expect(critical[0]?.evidence).toEqual(['unnamed-vessel-pi']);
    expect(outcome.data?.category).toBe('aedf');
    expect(outcome.classifications?.some(({ id }) => id === 'end-diastolic-flow')).toBe(false);
  });

  it('what is missing is reported for each fetus', () => {
    const { summary } = run([umbilical('A'), umbilical('B'), cerebral('A')]);
    expect(summary).toContain('Fetus B: MCA Doppler was not supplied; CPR was not assessed.');
    expect(summary).not.toContain('Fetus A: MCA Doppler was not supplied');
    expect(summary).toContain('Uterine artery Doppler was not supplied.');
  });
});

describe('MCA peak velocity', () => {
  const peak = (psv: number, correctionAngle: number | null) =>
    run([spectrum('middle-cerebral-artery', { psv, edv: 15, tamx: 35 }, { correctionAngle })]);
  const signal = (outcome: Outcome) => finding(outcome, 'fetal-anaemia-signal')?.text;

  it.each([
    { angle: null, remark: true },
    { angle: 0, remark: false },
  ])('with an angle of $angle: a remark, $remark', ({ angle, remark }) => {
    const outcome = peak(44.4 * 1.6, angle);
    const note = outcome.value('middle-cerebral-artery-psv-mom')?.note ?? '';
    expect(note.includes('the angle was not given')).toBe(remark);
    expect(signal(outcome)?.includes('the angle was not given')).toBe(remark);
    expect(outcome.summary?.includes('the angle was not given')).toBe(remark);
  });

  it('just below a limit is not printed as the limit', () => {
    expect(signal(peak(44.4 * 1.497, 0))).toContain('1.497 multiples');
    expect(peak(44.4 * 1.497, 0).summary).toContain('multiple of the median 1.497');
    expect(signal(peak(44.4 * 1.45, 0))).toContain('1.45 multiples');
  });
});
