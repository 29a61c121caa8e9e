import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../pipelines/concepts/echo.ts';
import { heartOutlines } from '../../../pipelines/echo/evidence.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import {
  IMPRESSION_LINES,
  impressionOf,
  type Topic,
} from '../../../pipelines/result/impression.ts';
import { conclusionTexts, impressionWith } from '../../../pipelines/result/render/conclusion.ts';
import { ECHO_TOPICS } from '../../../pipelines/result/render/echo/impression.ts';
import { renderStatement } from '../../../pipelines/result/render/render.ts';
import { unsupportedClaims } from '../../../pipelines/result/render/report-check.ts';
import { sayOfRun } from '../../../pipelines/result/render/shared.ts';
import type { SentenceTable, Statement } from '../../../pipelines/result/statement.ts';
import { interpreted } from '../echo/interpret-sample.ts';
import { measuredStudy } from '../echo/measured-study.ts';
import { beatingClip, HEALTHY } from '../echo/ventricle-sample.ts';
import { abdomen, femur, head, interpretReadings } from '../obstetric/evidence-sample.ts';

type Report = NonNullable<Result['report']>;

const words = (lines: readonly string[]) => lines.join(' ').split(/\s+/).length;

const NORMAL_HEART: Partial<Record<EchoConcept, number>> = {
  ...{ ivsd: 0.9, lvidd: 5, lvpwd: 0.9, lvids: 3.2 },
  ...{ 'lvedv-biplane': 110, 'lvesv-biplane': 42, 'wall-motion-score-index': 1 },
  ...{ 'mitral-e': 80, 'mitral-a': 60, 'e-prime-septal': 10, 'e-prime-lateral': 13 },
  ...{ 'la-volume-biplane': 48, 'av-vmax': 1.2, tapse: 22, 'rv-s-prime': 13, 'rv-fac': 45 },
  ...{ 'tr-vmax': 2.2, 'ivc-diameter': 1.6, 'ivc-collapse': 60, 'body-surface-area': 1.85 },
  'effusion-depth': 0,
};

/** Returns the impression of a study of a man whose machine sent these values. */
function echo(machine: Partial<Record<EchoConcept, number>>) {
  const { result } = measuredStudy({ machine });
  if (!result.report) throw new Error(result.sections.at(-1)?.reason?.detail ?? 'no report');
  return { result, lines: result.report.impression };
}

const topicsOf = ({ report }: Result) => report?.impression_lines?.map(({ topic }) => topic);

describe('the impression of a normal heart', () => {
  const { result, lines } = echo(NORMAL_HEART);

  it('has at most five lines and 90 words', () => {
    expect(lines.length).toBeLessThanOrEqual(IMPRESSION_LINES);
    expect(words(lines)).toBeLessThanOrEqual(90);
  });

  it('begins with the size of the LV, and the LVEF with its value, method and category', () => {
    expect(lines[0]).toMatch(/^LV of normal size \(.*LVIDd 5\.0 cm\)/);
    expect(lines[0]).toMatch(/LVEF 62 % \(biplane discs.*\), normal/);
  });

  it.each([
    [5, 'LV of normal size (LVEDVi 59 ml/m², LVIDd 5.0 cm); LVEF 62 %'],
    [5.9, 'LV of normal size (LVEDVi 59 ml/m²), but dilated by LVIDd 5.9 cm; LVEF 62 %'],
  ])('states what holds for both sexes if the sex is unknown: LVIDd %d cm', (lvidd, expected) => {
    const machine = { ...NORMAL_HEART, lvidd };
    const unknown = measuredStudy({ machine, patient: { sex: null } }).result;
    expect(unknown.report?.impression[0]).toContain(expected);
  });

  it.each([
    [5.5, "LV size not graded, as the patient's sex is unknown (LVIDd 5.5 cm)"],
    [6.5, 'LV dilated (LVIDd 6.5 cm)'],
  ])('begins with the size by the diameter alone: %d cm', (lvidd, expected) => {
    const unknown = measuredStudy({ machine: { lvidd }, patient: { sex: null } }).result;
    expect(unknown.report?.impression[0]).toContain(expected);
  });

  it('continues with wall motion, diastolic function, valves, and finally the right heart', () => {
    const order = topicsOf(result)?.join(', ') ?? '';
    expect(order).toMatch(
      /^left-ventricle, wall-motion, diastolic-function, valves, right-heart(, pericardium)?$/,
    );
  });

  it('states the strain only if there is no LVEF', () => {
    const { 'lvedv-biplane': _, 'lvesv-biplane': __, ...withoutVolumes } = NORMAL_HEART;
    expect(echo({ ...NORMAL_HEART, 'gls-peak-systolic': -19 }).lines.join(' ')).not.toContain(
      'strain',
    );
    expect(echo({ ...withoutVolumes, 'gls-peak-systolic': -19 }).lines.join(' ')).toContain(
      'strain',
    );
  });

  it('does not mention diastolic function if it has neither a grade nor a value', () => {
    expect(echo({ lvidd: 5, ivsd: 0.9, lvpwd: 0.9 }).lines.join(' ')).not.toContain('iastolic');
  });

  it('states with the valves that regurgitation was not assessed', () => {
    const line = lines.find((text) => text.includes('Aortic valve'));
    expect(line).toContain('regurgitation not assessed');
  });

  it('names the valves whose regurgitation was not assessed beside one that was', () => {
    const severe = measuredStudy({ machine: { 'tr-vena-contracta': 7.5 } }).result;
    expect(severe.report?.impression).toContain(
      'Tricuspid regurgitation: severe (3+); regurgitation not assessed: aortic and mitral valves.',
    );
  });
});

describe('the impression of an abnormal heart', () => {
  const { lines, result } = echo({
    ...NORMAL_HEART,
    ...{ lvidd: 6.8, 'lvedv-biplane': 220, 'lvesv-biplane': 168, 'av-vmax': 4.4 },
    ...{ 'av-mean-gradient': 46, 'la-volume-biplane': 105, tapse: 12, 'rv-s-prime': 7 },
  });

  it('has at most five lines, with severely reduced LVEF first', () => {
    expect(lines.length).toBeLessThanOrEqual(IMPRESSION_LINES);
    expect(lines[0]).toMatch(/^LV dilated .*LVEF 24 % .*severely reduced/);
  });

  it('contains a line for every abnormal finding', () => {
    const loud = result.findings.filter(({ severity }) => severity !== 'info');
    expect(loud.length).toBeGreaterThan(4);
    const said = lines.join(' ');
    for (const word of ['LVEF 24 %', 'Aortic valve', '4.4 m/s', 'LA severely', 'TAPSE 12 mm']) {
      expect(said).toContain(word);
    }
  });
});

describe('several findings that are undecided at a cut-off', () => {
  it('are one clause with their values; the section states what each may be', () => {
    const { result } = echo({ ...NORMAL_HEART, lvpwd: 1.6 });
    const [ivsd, lvpwd] = ['ivsd', 'lvpwd'].map(
      (key) => result.measurements.find(({ concept }) => concept.key === key)?.id ?? '',
    );
    const between = (about: (string | undefined)[], name: string) => ({
      kind: 'conclusion',
      code: 'echo.between',
      about,
      fetus: null,
      params: { open: [{ id: name, name, categories: ['mildly abnormal', 'normal'] }] },
    });
    const findings = [
      {
        ...{ id: 'lv-size-abnormal', section: 'lv-size', concept: null, severity: 'abnormal' },
        ...{ text: '', confidence: null, evidence: [] },
        statements: [between([lvpwd], 'Posterior wall'), between([ivsd, lvpwd], 'LV mass')],
      },
    ] as unknown as Result['findings'];
    const measurements = result.measurements.map((one) =>
      one.id === lvpwd ? { ...one, uncertainty: 0.3 } : one,
    );
    const undecided = { ...result, report: null, measurements, findings };
    const said = impressionWith(ECHO_TOPICS, undecided);
    expect(said.impression[0]).toContain(
      'the grade of LVPWd 1.6 ± 0.3 cm is uncertain, as a cut-off lies within its interval',
    );
    expect(said.impression[0]).not.toContain('LV mass');
    if (!result.report) throw new Error('the study has no report');
    const claims = (report: typeof said) =>
      unsupportedClaims({ ...result.report, ...report } as Report, undecided);
    expect(claims(said)).toEqual([]);
    const changed = said.impression.map((line) => line.replace('1.6 ± 0.3', '1.9 ± 0.3'));
    expect(claims({ ...said, impression: changed })).not.toEqual([]);
  });
});

describe('a finding that is undecided at a cut-off', () => {
  it('does not repeat a value that the line already states', () => {
    const { ivsd: _, ...withoutSeptum } = NORMAL_HEART;
    const { result } = echo({ ...withoutSeptum, lvpwd: 1.3 });
    const lvpwd = result.measurements.find(({ concept }) => concept.key === 'lvpwd')?.id;
    const open = [
      { id: 'lvpwd', name: 'Posterior wall', categories: ['mildly abnormal', 'normal'] },
    ];
    const between = {
      ...{ kind: 'conclusion', code: 'echo.between', about: [lvpwd], fetus: null },
      params: { open },
    };
    const findings = [
      {
        ...{ id: 'lv-size-abnormal', section: 'lv-size', concept: null, severity: 'abnormal' },
        ...{ text: '', confidence: null, evidence: [lvpwd], statements: [between] },
      },
    ] as unknown as Result['findings'];
    const measurements = result.measurements.map((one) =>
      one.id === lvpwd ? { ...one, uncertainty: 0.3 } : one,
    );
    const undecided = { ...result, report: null, measurements, findings };
    const [line = ''] = impressionWith(ECHO_TOPICS, undecided).impression;
    expect(line).toContain(
      'thickened wall (LVPWd 1.3 cm); the grade of LVPWd (± 0.3 cm) is uncertain',
    );
  });
});

describe('a size that is undecided between two grades', () => {
  it('is stated once, with both grades and the interval of its value', () => {
    const { result } = echo({ ...NORMAL_HEART, 'la-volume-biplane': 80 });
    const index = result.measurements.find(({ concept }) => concept.key === 'la-volume-index');
    const categories = ['mildly abnormal', 'moderately abnormal'];
    const between = {
      ...{ kind: 'conclusion', code: 'echo.between', about: [index?.id], fetus: null },
      params: { open: [{ id: 'la-volume-grade', name: 'LA volume index', categories }] },
    };
    const sections = result.sections.map((one) =>
      one.id === 'la-volume' ? { ...one, statements: [between] } : { ...one, statements: [] },
    ) as Result['sections'];
    const findings = [
      {
        ...{ id: 'la-enlarged', section: 'la-volume', concept: null, severity: 'abnormal' },
        ...{ text: '', confidence: null, evidence: [index?.id], statements: [between] },
      },
    ] as unknown as Result['findings'];
    const measurements = result.measurements.map((one) =>
      one.id === index?.id ? { ...one, uncertainty: 3 } : one,
    );
    const undecided = { ...result, report: null, measurements, sections, findings };
    const said = impressionWith(ECHO_TOPICS, undecided).impression.join(' ');
    expect(said).toContain('LA mildly to moderately enlarged (LAVi 43 ± 3 ml/m²)');
    expect(said.match(/LAVi|LA volume index/g)).toHaveLength(1);
  });
});

describe('normal findings in diastolic function', () => {
  /** Medial and lateral e' and the mitral flow of a normal heart, but no LA volume or PV flow. */
  const FLOW = { 'mitral-e': 80, 'mitral-a': 60, 'e-prime-septal': 9, 'e-prime-lateral': 12 };

  it.each([
    [
      'no criterion is met',
      { ...FLOW, 'tr-vmax': 2.2 },
      /Normal diastolic function by ASE\/EACVI 2016 with some criteria missing and ASE 2025 \(E\/A 1\.33, E\/e' 7\.6\)\./,
    ],
    [
      'the TR velocity is raised and no other sign is: the LAP only',
      { ...FLOW, 'tr-vmax': 3, 'pulmonary-vein-s': 60, 'pulmonary-vein-d': 50 },
      /Normal LAP by ASE.* 2025 \(E\/A 1\.33, E\/e' 7\.6\), although TR Vmax or PASP is beyond the limit\./,
    ],
    [
      'E/A is low, which leaves dysfunction possible by ASE 2025: the LAP only',
      { ...FLOW, 'mitral-e': 48, 'tr-vmax': 2.2 },
      /Normal LAP by ASE.* 2025 \(E\/A 0\.80, E\/e' 4\.6\), although E\/A is beyond the limit\./,
    ],
    [
      'ASE 2025 finds dysfunction apart from the LAP',
      {
        ...FLOW,
        'mitral-e': 42,
        'tr-vmax': 2.2,
        'la-volume-biplane': 80,
        'body-surface-area': 1.85,
      },
      /Diastolic dysfunction with normal LAP by ASE.* 2025 \(E\/A 0\.70, E\/e' 4\.0\), although LAVi and E\/A are beyond the limit/,
    ],
  ])('if %s', (_, values, expected) => {
    expect(echo(values).lines.join(' ')).toMatch(expected);
  });
});

describe('diastolic function without a grade', () => {
  const graded = ({ sections, ...rest }: Result, statements: unknown[]) => ({
    ...rest,
    report: null,
    sections: sections.map((one) =>
      one.id === 'diastolic' ? { ...one, statements } : one,
    ) as Result['sections'],
  });
  const ofDiastolic = ({ sections }: Result) =>
    sections.find(({ id }) => id === 'diastolic')?.statements ?? [];
  /** Returns the impression. The report check, which would withhold the report, must accept it. */
  const impressionOf = (made: Result) => {
    const said = impressionWith(ECHO_TOPICS, made);
    expect(unsupportedClaims({ ...result.report, findings: [], ...said } as Report, made)).toEqual(
      [],
    );
    return said.impression.join(' ');
  };
  const { result } = echo({
    ...NORMAL_HEART,
    ...{ 'mitral-e': 80, 'mitral-a': 62, 'e-prime-septal': 4.6, 'e-prime-lateral': 6 },
  });
  const schemeOf = ({ params }: { params: Record<string, unknown> }) => params.scheme;

  it('is still reported as dysfunction if ASE 2025 finds it', () => {
    const only = ofDiastolic(result).filter(
      (one) => one.code !== 'diastolic.result' || schemeOf(one) === '2025-presence',
    );
    expect(impressionOf(graded(result, only))).toContain(
      "Diastolic dysfunction (ASE 2025), LA pressure and grade undecided (E/A 1.29, E/e' 15.1)",
    );
  });

  it('is stated as not graded, with its values', () => {
    const none = ofDiastolic(result).filter(({ code }) => code !== 'diastolic.result');
    expect(impressionOf(graded(result, none))).toContain(
      "Diastolic function not graded (E/A 1.29, E/e' 15.1)",
    );
  });

  it('by one of two algorithms is stated with the algorithm and the value', () => {
    const tr = result.measurements.find(({ concept }) => concept.key === 'tr-vmax')?.id ?? '';
    const only = ofDiastolic(result).filter(
      (one) => one.code !== 'diastolic.result' || String(schemeOf(one)).startsWith('2016'),
    );
    const categories = ['normal LAP, grade 1', 'elevated LAP'];
    const between = {
      ...{ kind: 'conclusion', code: 'echo.between', about: [tr], fetus: null },
      params: { open: [{ id: 'diastolic-2025', name: 'LA pressure and grade', categories }] },
    };
    const said = impressionOf({
      ...graded(result, [...only, between]),
      measurements: result.measurements.map((one) =>
        one.id === tr ? { ...one, uncertainty: 0.3 } : one,
      ),
    });
    expect(said).toContain(
      'undecided by ASE 2025, as a cut-off lies within the interval of TR Vmax 2.2 ± 0.3 m/s',
    );
  });
});

describe('wall motion', () => {
  const clips = (['A4C', 'A2C', 'A3C'] as const).map((view) => beatingClip(view, HEALTHY));
  const heart = heartOutlines({ clips, volumesTrusted: true });
  const saidBeside = (index: number) =>
    interpreted(
      { 'wall-motion-score-index': index },
      'cart-sr',
      {},
      { heart },
    ).result.report?.impression.join(' ');
  it('that the outlines show to be normal is called normal', () => {
    expect(saidBeside(1)).toContain('No wall motion abnormality in 16 of 16 segments');
  });
  it('is not called normal by the outlines if the machine has a raised score index', () => {
    expect(saidBeside(1.5)).toContain('WMSI 1.50: wall motion abnormality, segments unknown');
    expect(saidBeside(1.5)).not.toMatch(/no wall motion abnormality/i);
  });
});

describe('contradictions', () => {
  it('between two LVEFs that prevent a grade are one clause with both numbers', () => {
    const outlines = { 'lvef-networks': 64, 'lvef-biplane': 41 };
    const { report } = measuredStudy({ outlines }).result;
    const [line = ''] = report?.impression ?? [];
    expect(line).toContain(
      'LVEF 64 % (A4C, two networks), not graded, as LVEF (biplane) 41 % from the images is more than 10 points apart from it',
    );
    expect(line.match(/not graded/g)).toHaveLength(1);
  });

  it('between the diameter and the volume of the LA are stated with the one that counts', () => {
    const { lines } = echo({ ...NORMAL_HEART, 'la-diameter': 4.9 });
    expect(lines.join(' ')).toMatch(
      /LA of normal size by LAVi 26 ml\/m², used in preference to LA AP 4\.9 cm \(moderately abnormal\)/,
    );
  });

  it('are not stated if diameter and volume agree', () => {
    const { lines } = echo({ ...NORMAL_HEART, 'la-diameter': 3.8 });
    expect(lines.join(' ')).not.toContain('LA AP');
  });

  it('between the categories of two methods of the LVEF are one clause', () => {
    const { lines } = echo({ ...NORMAL_HEART, 'lvef-4c': 50 });
    expect(lines[0]).toContain('the methods disagree on the category: LVEF (A4C) 50 % (mildly');
    expect(lines.join(' ').match(/LVEF/g)).toHaveLength(2);
  });

  it('are absent, and one LVEF is stated, only if the methods agree on the category', () => {
    const { lines } = echo({ ...NORMAL_HEART, 'lvef-4c': 60, 'lvef-2c': 63 });
    expect(lines.join(' ').match(/LVEF/g)).toHaveLength(1);
  });

  it('between the indices of the RV are one clause, the abnormal one first', () => {
    const { lines } = echo({ ...NORMAL_HEART, tapse: 13, 'rv-s-prime': 8 });
    expect(lines.join(' ')).toMatch(
      /[Rr]educed RV systolic function \(TAPSE 13 mm, S' 8\.0 cm\/s\), but not by FAC 45 %/,
    );
  });

  it('between the volume and the diameter of the LV are one clause', () => {
    const { lines } = echo({ ...NORMAL_HEART, 'lvedv-biplane': 160, 'lvesv-biplane': 62 });
    expect(lines[0]).toMatch(/^LV dilated \(LVEDVi .*\), but of normal size by LVIDd 5\.0 cm/);
  });
});

/** Returns the result for a fetus at 28 weeks with these lengths in mm. */
const fetus = (hc: number, ac: number, fl: number) =>
  interpretReadings({
    readings: [
      head((hc / Math.PI) * 1.12, (hc / Math.PI) * 0.88),
      abdomen(ac / Math.PI, ac / Math.PI),
      femur(fl),
    ],
    options: { dating: { ga_days: 196, basis: 'crl' }, report: true },
  });

describe('the impression of a fetus', () => {
  it('of median size is short: dating and size', () => {
    const { report } = fetus(259, 233, 51);
    expect(report?.impression[0]).toBe('28+0 weeks by crown-rump length.');
    expect(report?.impression[1]).toMatch(/EFW \d+ g \(centile \d+\)/);
    expect(words(report?.impression ?? [])).toBeLessThanOrEqual(40);
  });

  it('that is small states this with its numbers, and whether it meets the definition', () => {
    const { report } = fetus(240, 190, 44);
    const [, size] = report?.impression ?? [];
    expect(size).toMatch(/^Severely small for gestational age: EFW \d+ g \(centile <1\)/);
    expect(size).toContain('fetal growth restriction');
    expect(report?.impression_lines?.map(({ severity }) => severity)).toEqual(['info', 'abnormal']);
  });
});

describe('growth without a change', () => {
  it('has no negative zero', () => {
    const params = { key: 'efw', zPerWeek: -0.001, centileThen: 46, daysBefore: 28 };
    const said = {
      ...{ kind: 'conclusion', code: 'impression.change', about: [], fetus: null },
      params,
    };
    expect(renderStatement(said as Statement, new Map())).toContain('EFW z-score +0.00 per week');
  });
});

describe('the impression of any study', () => {
  const WEIGHT = { critical: 0, abnormal: 1, info: 2 };
  it.each([
    ['a normal heart', () => echo(NORMAL_HEART).result],
    ['one value', () => echo({ lvidd: 5 }).result],
    ['a severely reduced LVEF', () => echo({ ...NORMAL_HEART, 'lvesv-biplane': 90 }).result],
    [
      'a heart with everything abnormal',
      () =>
        echo({
          ...{ ivsd: 1.6, lvidd: 6.8, lvpwd: 1.6, 'lvedv-biplane': 220, 'lvesv-biplane': 168 },
          ...{ 'mitral-e': 110, 'mitral-a': 40, 'e-prime-septal': 4, 'e-prime-lateral': 5 },
          ...{ 'la-volume-biplane': 105, 'av-vmax': 4.4, 'av-mean-gradient': 46, tapse: 12 },
          ...{ 'rv-s-prime': 7, 'tr-vmax': 3.9, 'ivc-diameter': 2.6, 'ivc-collapse': 20 },
          ...{ 'wall-motion-score-index': 2.2, 'effusion-depth': 25, 'body-surface-area': 1.85 },
        }).result,
    ],
    ['a median fetus', () => fetus(259, 233, 51)],
    ['a small fetus', () => fetus(240, 190, 44)],
  ])('has at most five lines, each one sentence, the most severe first: %s', (_, study) => {
    const { report } = study();
    const { impression = [], impression_lines: lines = [] } = report ?? {};
    expect(impression.length).toBeGreaterThan(0);
    expect(impression.length).toBeLessThanOrEqual(5);
    for (const line of impression) expect(line).toMatch(/^[^.]*(?:\.(?! [A-Z])[^.]*)*\.$/);
    const weights = lines.map(({ severity }) => WEIGHT[severity]);
    const critical = weights.filter((one) => one === WEIGHT.critical).length;
    expect(weights.slice(0, critical).every((one) => one === WEIGHT.critical)).toBe(true);
  });
});

describe('the choice of lines', () => {
  const result = fetus(259, 233, 51);
  const topic = (id: string): Topic<SentenceTable> => ({
    id,
    sections: [id],
    say: () => [{ statement: sayOfRun.gap('run.section-failed', {}) }],
  });
  const finding = (section: string, severity: 'info' | 'abnormal' | 'critical') => ({
    ...{ id: `${section}-${severity}`, section, concept: null, text: '', severity },
    ...{ confidence: null, evidence: [], statement: sayOfRun.gap('run.reader-failed', {}) },
  });
  const topics = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(topic);
  const idsWith = (findings: Result['findings']) =>
    impressionOf({ ...result, findings }, topics).map(({ topic: id }) => id);

  it('joins the last normal ones if there are too many', () => {
    expect(idsWith([])).toEqual(['a', 'b', 'c', 'd', 'e, f, g']);
    expect(idsWith([finding('g', 'abnormal')])).toEqual(['a', 'b', 'c', 'd, e, f', 'g']);
  });

  it('joins a topic that shares a line to the one before it, if both are normal', () => {
    const [a = topic('a'), b = topic('b')] = topics;
    const sharing = [a, { ...b, sharesLine: true }];
    const idsOf = (findings: Result['findings']) =>
      impressionOf({ ...result, findings }, sharing).map(({ topic: id }) => id);
    expect(idsOf([])).toEqual(['a, b']);
    expect(idsOf([finding('b', 'abnormal')])).toEqual(['a', 'b']);
  });

  it('puts what is critical first', () => {
    expect(idsWith([finding('f', 'critical')])).toEqual(['f', 'a', 'b', 'c', 'd, e, g']);
  });

  it('adds a finding that no topic describes, even from a section without a topic', () => {
    const own = impressionOf({ ...result, findings: [finding('b', 'abnormal')] }, topics);
    expect(own[1]?.statements.map(({ code }) => code)).toEqual([
      'run.section-failed',
      'run.reader-failed',
    ]);
    expect(idsWith([finding('elsewhere', 'abnormal')]).at(-1)).toBe('further');
  });

  it('never contains a value that needs a review', () => {
    const about = result.measurements[0]?.id ?? '';
    const held = {
      ...result,
      measurements: result.measurements.map((one) => ({ ...one, quality: 'review' as const })),
    };
    const said: Topic<SentenceTable> = {
      ...topic('a'),
      say: () => [{ statement: sayOfRun.gap('run.rests-on-review', {}, [about]) }],
    };
    expect(impressionOf(result, [said])).toHaveLength(1);
    expect(impressionOf(held, [said])).toEqual([]);
  });
});

describe('a result without a draft report', () => {
  const result = fetus(259, 233, 51);

  it('concludes in the same words', () => {
    expect(conclusionTexts({ ...result, report: null })).toEqual(result.report?.impression);
  });

  it('states the reason if the report was withheld', () => {
    const sections = result.sections.map((one) =>
      one.id === 'report'
        ? { ...one, status: 'failed' as const, reason: { code: 'x', detail: 'Why.', needs: [] } }
        : one,
    );
    expect(conclusionTexts({ ...result, sections, report: null })).toEqual(['Why.']);
  });
});
