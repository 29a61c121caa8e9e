import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionable, compactValues } from '../../../../pipelines/artifacts/pdf/compact-table.ts';
import { measurementTable } from '../../../../pipelines/artifacts/pdf/measurement-table.ts';
import {
  patientLine,
  readableName,
  rebuildReportPdf,
  renderReport,
} from '../../../../pipelines/artifacts/pdf/report.ts';
import { overlaysOf } from '../../../../pipelines/artifacts/previews/overlays.ts';
import { createShownFrames } from '../../../../pipelines/artifacts/previews/shown-frames.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { OBSTETRIC_CONCEPTS } from '../../../../pipelines/concepts/obstetric.ts';
import { type Clip, type Study, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';
import type { Subject } from '../../../../pipelines/dicom/subject.ts';
import { INTERGROWTH_CURVES } from '../../../../pipelines/obstetric/growth/curves.ts';
import {
  artifactSchema,
  type Measurement,
  type Result,
} from '../../../../pipelines/result/envelope.ts';
import { conclusionTexts } from '../../../../pipelines/result/render/conclusion.ts';
import { remarks } from '../../../../pipelines/result/render/statement.ts';
import type { Statement } from '../../../../pipelines/result/statement.ts';
import { withNotes } from '../../../../pipelines/run/review-effects.ts';
import { writeArtifacts, writeEarlyPreviews } from '../../../../pipelines/run/write-artifacts.ts';
import { measuredStudy } from '../../echo/measured-study.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../../obstetric/evidence-sample.ts';
import { BPD, HC, measurement } from '../example-measurements.ts';
import { NOTHING_MEASURED, RESULT } from '../example-result.ts';
import { ANONYMOUS, IDENTITY, SUBJECT } from '../example-subject.ts';
import { asFile, installed, run } from '../programs.ts';

const hasPoppler = installed('pdftotext', ['-v']);

const pdf = (result: Result, subject: Subject) =>
  renderReport(result, subject, [], INTERGROWTH_CURVES);

/** Returns the text of each page in reading order. */
function pages(bytes: Buffer): string[] {
  const { output } = run('pdftotext', ['-layout', asFile(bytes, 'pdf'), '-']);
  return output.split('\f').filter((page) => page.trim() !== '');
}

const text = (bytes: Buffer) => pages(bytes).join('\n');

function clip(file: string, frames: number): Clip {
  const frame = (index: number) => ({
    index,
    time: index / 10,
    gray: async () => ({ width: 640, height: 480, data: new Uint8Array(640 * 480).fill(60) }),
    rgb: async () => ({ width: 640, height: 480, data: new Uint8Array(640 * 480 * 3).fill(60) }),
  });
  return {
    file,
    ...UNDESCRIBED,
    width: 640,
    height: 480,
    frames: Array.from({ length: frames }, (_, index) => frame(index)),
    regions: [],
    calibrationRefused: null,
    mode: '2d',
  };
}

const STUDY: Study = {
  clips: [clip('head.dcm', 1), clip('abdomen.dcm', 8), clip('femur.dcm', 1)],
  refused: [],
  files: 3,
  series: 2,
};

/** States that the values belong to different fetuses. */
const APART: Statement = {
  ...{ kind: 'gap', code: 'biometry.apart', fetus: null, about: [] },
  ...{ params: { source: 'named-in-reports' } },
};

describe.skipIf(!hasPoppler)('the PDF report', () => {
  test('shows patient, study, dating and due date', async () => {
    const all = text(await pdf(RESULT, SUBJECT));
    for (const part of ['Beispiel, Dr. Zoë', '1994-03-12', 'PID-4711', 'ACC-2026-5']) {
      expect(all).toContain(part);
    }
    expect(all).toMatch(/Gestational age\s+28\+0 weeks by last/);
    expect(all).toMatch(/Expected delivery\s+2026-07-27/);
  });

  test.each([
    ['GE', 'Voluson E10', 'ROOM-2', 'GE Voluson E10, ROOM-2'],
    ['Philips', 'Philips EPIQ', '', 'Philips EPIQ'],
    ['', 'Aplio', '', 'Aplio'],
  ])('shows the equipment: %s %s %s', async (manufacturer, model, station, shown) => {
    const equipment = { manufacturer, model, station };
    const [first = ''] = pages(await pdf(RESULT, { ...SUBJECT, equipment }));
    expect(first).toMatch(new RegExp(`Equipment\\s+${shown}$`, 'm'));
  });

  test('says where it cannot print the letters of a header', async () => {
    const identity = { ...IDENTITY, StudyDescription: 'OB 产科, 超声 scan' };
    const [first = ''] = pages(await pdf(RESULT, { ...SUBJECT, identity }));
    expect(first).toMatch(/Study\s+OB \[letters that this report/);
  });

  test('does not mention equipment that the images do not identify', async () => {
    const equipment = { manufacturer: '', model: '', station: '' };
    expect(text(await pdf(RESULT, { ...SUBJECT, equipment }))).not.toContain('Equipment');
    expect(text(await pdf(RESULT, SUBJECT))).not.toContain('Equipment');
  });

  test('shows the values of the earlier scan in a separate column', async () => {
    const earlier = [
      {
        days_before: 28,
        ga_days: 168,
        values: [
          {
            ...{ concept: 'hc', value: 218.4, unit: 'mm', source: 'images' },
            ...{ centile: 47, z_score: -0.08, chart: 'intergrowth-hc' },
          },
        ],
      },
    ];
    const sections = RESULT.sections.map((one) =>
      one.id === 'growth' ? { ...one, data: { ...one.data, earlier } } : one,
    );
    const [first = ''] = pages(await pdf({ ...RESULT, sections }, SUBJECT));
    expect(first).toMatch(/Measurement\s+Value\s+Range or centile\s+Prior/);
    expect(first).toMatch(/262\.4 mm\s+centile 59\s+218/);
    const [without = ''] = pages(await pdf(RESULT, SUBJECT));
    expect(without).not.toContain('Prior');
  });

  test('groups values by fetus, or by image if the fetus is not identified', async () => {
    const [head] = RESULT.measurements;
    if (!head) throw new Error('the example has a measurement');
    const withHeads = (...heads: readonly Partial<Measurement>[]): Result => ({
      ...RESULT,
      sections: RESULT.sections.map((one) =>
        one.id === head.section ? { ...one, statements: [APART] } : one,
      ),
      measurements: heads.map((one, i) => ({ ...head, id: `head-${i}`, ...one })),
    });
    const [named = ''] = pages(await pdf(withHeads({ fetus: 'A' }, { fetus: 'B' }), SUBJECT));
    expect(named).toMatch(/Biometry, fetus A/);
    expect(named).toMatch(/Biometry, fetus B/);
    const at = (frame: number) => ({ source: { ...head.source, frame } });
    const [unnamed = ''] = pages(await pdf(withHeads(at(1), at(2)), SUBJECT));
    expect(unnamed.match(/Biometry, fetus not identified\b/g)).toHaveLength(1);
    const withDiameter = withHeads(at(1), { ...at(1), concept: BPD.concept }, at(2));
    const [several = ''] = pages(await pdf(withDiameter, SUBJECT));
    expect(several).toMatch(/Biometry, fetus not identified, image 1 of 2/);
    expect(several).toMatch(/Biometry, fetus not identified, image 2 of 2/);
    const [single = ''] = pages(await pdf(withHeads({}), SUBJECT));
    expect(single).not.toMatch(/Biometry, fetus/);
  });

  test.each([null, 'H'] as const)(
    'says on page 1 that the side of a cardiac axis is unknown, interpreted as %s',
    async (interpretation) => {
      const { label } = OBSTETRIC_CONCEPTS['cardiac-axis'];
      const axis = measurement('cardiac-axis', 'cardiac-axis', 72, {
        ...{ section: 'biometry', label, unit: 'deg', interpretation },
      });
      const earlier = { days_before: 40, values: [{ concept: 'cardiac-axis', value: 70 }] };
      const sections = RESULT.sections.map((one) =>
        one.id === 'growth' ? { ...one, data: { ...one.data, earlier: [earlier] } } : one,
      );
      for (const shown of [RESULT.sections, sections]) {
        const result = { ...RESULT, sections: shown, measurements: [axis] };
        const [first = ''] = pages(await pdf(result, SUBJECT));
        expect(first).toMatch(/Cardiac axis [\s\S]*unknown\)/);
      }
    },
  );

  test('keeps the rows of growth charts on one page', async () => {
    const [head] = RESULT.measurements;
    const copies = Array.from({ length: 24 }, (_, i) => ({
      ...head,
      id: `more-${i}`,
      laterality: 'left',
      concept: { ...head?.concept, key: `other-${i}` },
    }));
    const measurements = [...RESULT.measurements, ...copies] as Measurement[];
    const all = pages(await pdf({ ...RESULT, measurements }, SUBJECT));
    const withCharts = all.filter((page) => page.includes('Gestational age (weeks)'));
    expect(withCharts).toHaveLength(1);
    expect(withCharts[0]).toContain('Growth');
  });

  test('keeps the heading "not assessed" together with its table at a page break', async () => {
    const [one] = RESULT.measurements;
    const detail = 'The view was not found among the images of this study. '.repeat(6).trim();
    const reason = { code: 'view_missing', detail, needs: [] };
    const missing = {
      ...NOTHING_MEASURED.sections[0],
      status: 'not_assessed',
      summary: '',
      reason,
    };
    const ends = new Set<string>();
    for (let more = 0; more < 40; more += 3) {
      const copies = Array.from({ length: more }, (_, i) => ({ ...one, id: `more-${i}` }));
      const result = { ...NOTHING_MEASURED, measurements: copies, sections: [missing] };
      const all = pages(await pdf(result as Result, SUBJECT));
      const page = all.findIndex((text) => /^Not assessed$/m.test(text));
      expect(all[page], `${more} rows before it`).toContain('The view was not found');
      ends.add(`${page}`);
    }
    expect(ends.size).toBeGreaterThan(1);
  });

  test.each([
    [5.1, 'HC 262.4 ± 5.1 mm'],
    [0.04, 'HC 262.4 ± 0.04 mm'],
    [0, 'HC 262.4 mm'],
  ])('never rounds the half width of an interval to zero: %d', (uncertainty, shown) => {
    const value = { ...HC, section: 'biometry', label: 'HC', uncertainty };
    const { groups } = measurementTable({ ...RESULT, measurements: [value] });
    const [name, cell] = groups[0]?.rows[0] ?? [];
    expect(`${name?.text} ${cell?.text}`).toBe(shown);
  });

  test('never lets "as above" refer to a value that is listed for comparison only', () => {
    const methods = (...standings: Measurement['standing'][]) => {
      const measurements = standings.map((standing, i) => ({ ...HC, id: `hc-${i}`, standing }));
      const { groups } = measurementTable({ ...RESULT, measurements });
      return groups.flatMap(({ rows }) => rows.map((row) => row.at(-1)?.text ?? ''));
    };
    const [method = ''] = methods('counts');
    expect(methods('counts', 'counts')).toEqual([method, 'as above']);
    expect(methods('counts', 'comparison', 'counts')).toEqual([method, 'for comparison', method]);
  });

  describe('of a median of several frames', () => {
    const part = (id: string, value: number, more: Partial<Measurement> = {}): Measurement => ({
      ...HC,
      ...{ id, value, section: 'biometry', label: 'HC', standing: 'part-of-mean', inputs: [] },
      ...{ derivation: 'measured', reference: null, interpretation: null },
      ...more,
    });
    const rows = (...parts: Measurement[]) => {
      const inputs = parts.map(({ id }) => id);
      const median = part('hc', 208, { inputs, standing: 'counts', derivation: 'median' });
      const { groups } = measurementTable({ ...RESULT, measurements: [...parts, median] });
      return groups.flatMap((group) =>
        group.rows.map((row) => `${row[0]?.text} ${row[1]?.text}, ${row.at(-1)?.text}`),
      );
    };

    test('lists the single values in the row of the median', () => {
      const listed = rows(part('hc-1', 208.2), part('hc-2', 208), part('hc-3', 207.1));
      expect(listed).toHaveLength(1);
      expect(listed[0]).toMatch(/^HC 208\.0.* mm, median of 3 \(208\.2, 208\.0, 207\.1\); ellipse/);
    });

    test('gives each part its own row if one is another quantity', () => {
      const listed = rows(part('left', 207, { label: 'left' }), part('right', 209));
      expect(listed).toHaveLength(3);
      expect(listed[0]).toMatch(/^left 207\.0.* mm, part of a mean or median; ellipse/);
      expect(listed[2]).toMatch(/^HC 208\.0.* mm, median of 2; ellipse/);
    });

    test.each<[string, Partial<Measurement>]>([
      ['needs review', { quality: 'review' }],
      ['was confirmed by a person', { confirmed: 'accepted' }],
    ])('gives each part its own row if one %s', (_, more) => {
      expect(rows(part('hc-1', 207, more), part('hc-2', 209))).toHaveLength(3);
    });
  });

  test('in a remark on several values, separates names that contain a comma by semicolons', () => {
    const noted = (label: string) => ({ ...HC, label, remarks: [], note: 'one beat' });
    const lineOf = (...labels: string[]) =>
      remarks({ ...RESULT, measurements: labels.map(noted) }).join();
    expect(lineOf('LA area, A4C', 'LA volume')).toBe('LA area, A4C; LA volume: one beat.');
    expect(lineOf('Mitral E', 'Mitral A')).toBe('Mitral E, Mitral A: one beat.');
  });

  test('shows each accepted value with range and centile, and marks the abnormal one', async () => {
    const all = text(await pdf(RESULT, SUBJECT));
    expect(all).toMatch(/Head circumference\s+262\.4 ± 3\.1 mm\s+248\.9 – 271\.8 mm\s+59\s+0\.2\s/);
    expect(all).toMatch(/Abdominal circumference\s+▼ 214\.9 mm\s+218\.8 – 247\.8 mm\s+5\.2/);
    expect(all).toMatch(/Estimated fetal weight\s+1004 ± 151 g\s+982 – 1279 g\s+14/);
  });

  test('shows no number for a value that was not accepted', async () => {
    const all = text(await pdf(RESULT, SUBJECT));
    expect(all).toMatch(/Occipitofrontal diameter\s+not accepted\s+confidence too low/);
    expect(all).not.toContain('91.2');
  });

  test('lists every part that was not assessed, with its reason', async () => {
    const all = text(await pdf(RESULT, SUBJECT));
    for (const { title, status } of RESULT.sections) {
      if (status === 'not_assessed') {
        expect(all).toMatch(new RegExp(`${title}\\s+This version does not assess`));
      }
    }
  });

  test('lists the conditions of its conclusions, also without a report', async () => {
    const condition: Statement = {
      ...{ kind: 'limitation', code: 'heart.not-judged', about: [], fetus: null, params: {} },
    };
    const sections = RESULT.sections.map((section) =>
      section.status === 'not_assessed' ? section : { ...section, statements: [condition] },
    );
    const result = { ...RESULT, sections, report: null };
    const noted = withNotes(result, [{ do: 'note', text: 'Repeat in two weeks.' }]);
    for (const one of [result, noted]) {
      expect(text(await pdf(one, SUBJECT))).toContain('Situs, position, the side of the axis');
    }
  });

  test('without any measurement states this with the reason, and has no table of values', async () => {
    const all = text(await pdf(NOTHING_MEASURED, { ...ANONYMOUS, dating: null }));
    expect(all).toMatch(/^ *No measurement was made\.$/m);
    expect(all).toContain('Biometry: No head, abdomen or femur plane');
    expect(all).not.toContain('Measurements');
  });

  test('states in the impression only what the result concludes', async () => {
    const undated = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    const all = text(await pdf(undated, { ...ANONYMOUS, dating: null }));
    const [, impression = ''] = all.split(/^Impression$/m);
    const lines = impression.trimStart().split('\n', conclusionTexts(undated).length);
    expect(lines.map((line) => line.trim())).toEqual(conclusionTexts(undated));
  });

  test.each([
    [['review', 'review'], 'No measurement was accepted; 2 need review.'],
    [['review', 'low'], 'No measurement was accepted; 1 needs review.'],
    [['low', 'inadequate'], 'No measurement was accepted.'],
  ] as const)('with values of quality %j states %s', async (qualities, stated) => {
    const measurements = qualities.map((quality, n) =>
      measurement(`hc-${n}`, 'hc', 250, { quality }),
    );
    const all = text(await pdf({ ...NOTHING_MEASURED, measurements }, ANONYMOUS));
    expect(all).toContain(stated);
    expect(all).not.toContain('No measurement was made');
    // A missing plane is not the reason why a value that was measured waits for its review.
    const isProposed = qualities.some((quality) => quality === 'review');
    expect(all.includes('Biometry: No head, abdomen or femur plane')).toBe(!isProposed);
  });

  test('has the draft notice, the patient and the page number on every page', async () => {
    const all = pages(await pdf(RESULT, SUBJECT));
    expect(all.length).toBeGreaterThan(1);
    all.forEach((page, index) => {
      expect(page).toContain('AI DRAFT, NOT VERIFIED - NOT FOR DIAGNOSIS UNTIL VERIFIED');
      expect(page).toContain('PID-4711');
      expect(page).toContain(`Page ${index + 1} of ${all.length}`);
    });
  });

  test('states the research setting on every page', async () => {
    const notice = 'Research setting: values validated on simulated images are accepted';
    const all = pages(await pdf({ ...RESULT, evidence_accepted: 'simulated' }, SUBJECT));
    for (const page of all) expect(page).toContain(notice);
    expect(text(await pdf(RESULT, SUBJECT))).not.toContain(notice);
  });

  test('states that it is anonymous, and has no identity', async () => {
    const all = text(await pdf(RESULT, ANONYMOUS));
    expect(all).toContain('Anonymous');
    for (const secret of ['Beispiel', 'PID-4711', '1994-03-12', 'ACC-2026-5']) {
      expect(all).not.toContain(secret);
    }
  });

  test.each([
    ['Łukasiewicz^Żaneta', 'Łukasiewicz, Żaneta'],
    ['Παπαδοπούλου^Ελένη', 'Παπαδοπούλου, Ελένη'],
    ['Иванова^Анна', 'Иванова, Анна'],
  ])('prints the name %s legibly', async (PatientName, shown) => {
    const subject = { ...SUBJECT, identity: { ...IDENTITY, PatientName } };
    expect(text(await pdf(RESULT, subject))).toContain(shown);
  });

  test('continues a long table on the next page with its header, without splitting a row', async () => {
    const many: Result = {
      ...RESULT,
      measurements: Array.from({ length: 90 }, (_, index) => ({
        ...BPD,
        id: `row-${index}`,
        label: `Row ${index}`,
      })),
    };
    const all = pages(await pdf(many, { ...SUBJECT, dating: null }));
    const holding = all.filter((page) => /^ *Row \d+/m.test(page));
    expect(holding.length).toBeGreaterThan(1);
    for (const page of holding) expect(page).toMatch(/Measurement\s+Value/);
    const start = all.findIndex((page) => /^Appendix$/m.test(page));
    const rows = all
      .slice(start)
      .join('\n')
      .match(/^ *Row \d+ +72\.1 mm/gm);
    expect(rows).toHaveLength(90);
  });

  test('fonts are embedded', async () => {
    const { output } = run('pdffonts', [asFile(await pdf(RESULT, SUBJECT), 'pdf')]);
    const fonts = output.split('\n').slice(2).filter(Boolean);
    expect(fonts.length).toBeGreaterThan(0);
    for (const font of fonts) expect(font).toMatch(/DejaVuSans.* yes yes yes /);
  });
});

/** Returns the number of the page on which the appendix begins, counted from 1. */
const appendixOf = (bytes: Buffer) =>
  pages(bytes).findIndex((page) => /^Appendix$/m.test(page)) + 1;

const LONG = {
  ...SUBJECT,
  identity: {
    ...IDENTITY,
    PatientName: 'Müller-Lüdenscheidt^Hannelore Friederike^^Prof. Dr.',
    StudyDescription: 'Transthoracic echocardiography with tissue Doppler and contrast',
  },
  indication: 'Known hypertension, breathless on exertion since the spring. '.repeat(4).trim(),
};

/** Returns the text that is printed in red. */
function inRed(bytes: Buffer): string {
  const { output } = run('pdftohtml', ['-xml', '-stdout', '-i', asFile(bytes, 'pdf')]);
  const fonts = output.matchAll(/<fontspec id="(\d+)"[^>]*color="#b3261e"/g);
  const red = new Set([...fonts].map(([, id]) => id));
  const lines = [...output.matchAll(/<text [^>]*font="(\d+)">(.*)<\/text>/g)];
  return lines.flatMap(([, font, words = '']) => (red.has(font) ? words : [])).join(' ');
}

describe.skipIf(!hasPoppler)('the first pages', () => {
  const heart = measuredStudy({
    machine: {
      ...{ ivsd: 0.9, lvidd: 5, lvpwd: 0.9, lvids: 3.2, 'lvedv-biplane': 110 },
      ...{ 'lvesv-biplane': 42, 'lvef-4c': 61, 'mitral-e': 80, 'mitral-a': 60 },
      ...{ 'e-prime-septal': 10, 'e-prime-lateral': 13, 'la-volume-biplane': 48 },
      ...{ 'av-vmax': 1.2, tapse: 22, 'rv-s-prime': 13, 'tr-vmax': 2.2, 'la-diameter': 4.9 },
      ...{ 'ivc-diameter': 1.6, 'ivc-collapse': 60, 'body-surface-area': 1.85 },
    },
  }).result;

  test.each([
    ['an echo study', heart, 'a4'],
    ['an echo study', heart, 'letter'],
    ['an obstetric study', RESULT, 'a4'],
    ['an obstetric study', RESULT, 'letter'],
  ] as const)('of %s are at most two, with a separate appendix', async (_, result, paper) => {
    const bytes = await renderReport(result, LONG, [], INTERGROWTH_CURVES, paper);
    expect(appendixOf(bytes)).toBeGreaterThan(1);
    expect(appendixOf(bytes)).toBeLessThanOrEqual(3);
  });

  test('contain the impression in the same words as the other documents', async () => {
    const words = (some: string) => some.replace(/\s+/g, '');
    const [first = ''] = pages(await pdf(heart, SUBJECT));
    for (const line of conclusionTexts(heart)) expect(words(first)).toContain(words(line));
  });

  const critical = measuredStudy({
    machine: { 'lvedv-biplane': 220, 'lvesv-biplane': 168 },
  }).result;

  test.each([
    ['a draft report', () => critical],
    ['no report, because none was requested', () => ({ ...critical, report: null })],
    [
      'a line that the reader added where no report was requested',
      () => withNotes({ ...critical, report: null }, [{ do: 'note', text: 'Known since 2020.' }]),
    ],
  ])('print a critical conclusion in red with %s', async (_, made) => {
    expect(inRed(await pdf(made(), SUBJECT))).toContain('LVEF 24 %');
  });

  test('contain one LVEF, and the appendix all of them', async () => {
    const keys = compactValues(heart).map(({ concept }) => concept.key);
    expect(keys.filter((key) => key.startsWith('lvef'))).toEqual(['lvef-biplane']);
    expect(text(await pdf(heart, SUBJECT))).toContain('LVEF, single plane A4C');
  });

  test('mark what is outside its range, and show only the basis of a finding in red', () => {
    const urgent = actionable(RESULT);
    const finding = RESULT.findings.find(({ severity }) => severity !== 'info');
    expect([...urgent]).toEqual(expect.arrayContaining(finding?.evidence ?? ['none']));
    const usual = RESULT.findings.map((one) => ({ ...one, severity: 'info' as const }));
    expect(actionable({ ...RESULT, findings: usual }).size).toBe(0);
    const inRange = RESULT.measurements.map((one) => ({ ...one, interpretation: 'N' as const }));
    expect(actionable({ ...RESULT, measurements: inRange }).size).toBe(0);
    const named = RESULT.findings.map((one) => ({
      ...one,
      statement: { kind: 'conclusion', code: 'x', about: one.evidence, fetus: null, params: {} },
    })) as Result['findings'];
    const usualValues = inRange.map((one) => ({ ...one, reference: null }));
    expect(actionable({ findings: named, measurements: usualValues }).size).toBe(0);
    const outside = heart.measurements.find(({ concept }) => concept.key === 'la-diameter');
    expect(outside?.interpretation).toBe('H');
    expect(actionable(heart)).not.toContain(outside?.id);
  });

  test('mark a value of an unknown sex only if it is outside the limits of both', () => {
    const [one] = RESULT.measurements;
    const limits = { male: [42, 58], female: [38, 52] };
    const value = (interpretation: 'H' | null) =>
      ({
        ...one,
        id: 'lvidd-1',
        value: 55,
        interpretation,
        reference: null,
        remarks: [{ code: 'echo.range-by-sex', params: limits }],
      }) as Measurement;
    const findings = RESULT.findings.map((finding) => ({
      ...finding,
      severity: 'abnormal' as const,
      evidence: [],
      statement: { kind: 'conclusion', code: 'x', about: ['lvidd-1'], fetus: null, params: {} },
    })) as Result['findings'];
    expect([...actionable({ findings, measurements: [value(null)] })]).toEqual([]);
    expect([...actionable({ findings, measurements: [value('H')] })]).toEqual(['lvidd-1']);
  });

  test('keep the signature on the page of the key image, which becomes smaller for that', async () => {
    const picture = (height: number) => ({
      width: 400,
      height,
      channels: 3 as const,
      background: '#000',
    });
    for (const height of [600, 750, 900]) {
      const png = await sharp({ create: picture(height) })
        .png()
        .toBuffer();
      const shown = [{ png, measurements: [BPD] }];
      const all = pages(await renderReport(RESULT, SUBJECT, shown, [], 'letter'));
      const page = all.find((one) => one.includes('Draft: not signed.'));
      expect(page, `an image of 400 x ${height}`).toContain('Key images');
    }
  });

  test("end with a line for the signature of a draft, or with the signer's name", async () => {
    const draft = text(await pdf(RESULT, SUBJECT));
    expect(draft).toContain('Draft: not signed.');
    const signature = {
      observer: 'Dr. Ada Arzt',
      organization: 'Example Hospital',
      at: '2026-11-22T10:15:00.000Z',
      statement: null,
    };
    const verification = { kind: 'verified', revision: 1, signatures: [signature] } as const;
    const signed = {
      ...RESULT,
      draft: false,
      verification: { ...verification, signatures: [signature] },
    };
    const of = text(await pdf(signed, SUBJECT));
    expect(of).toContain('Signed by Dr. Ada Arzt, Example Hospital, 2026-11-22 10:15 UTC.');
    expect(of).not.toContain('not signed');
  });

  test('does not let the names of two signers run into the page number', async () => {
    const signature = {
      observer: 'Dr. Alexandra Beispiel-Mustermann',
      organization: 'Department of Obstetrics and Gynaecology, Example University Hospital',
      at: '2026-11-22T10:15:00.000Z',
      statement: null,
    };
    const verification = {
      kind: 'verified',
      revision: 1,
      signatures: [signature, { ...signature, observer: 'Dr. Bernadette Exemple-Longue' }],
    } as const;
    const signed: Result = {
      ...RESULT,
      draft: false,
      verification: { ...verification, signatures: [...verification.signatures] },
    };
    for (const page of pages(await pdf(signed, SUBJECT))) {
      expect(page).toMatch(/… +Page \d+ of \d+$/m);
    }
  });
});

describe.skipIf(!hasPoppler)('the structure of the PDF', () => {
  test('is a tree with headings, tables and figures that have alternative texts', async () => {
    const png = await sharp({
      create: { width: 64, height: 48, channels: 3, background: '#777' },
    })
      .png()
      .toBuffer();
    const shown = RESULT.measurements.slice(0, 1);
    const bytes = await renderReport(
      RESULT,
      SUBJECT,
      [{ png, measurements: shown }],
      INTERGROWTH_CURVES,
    );
    const file = asFile(bytes, 'pdf');
    const info = run('pdfinfo', [file]).output;
    expect(info).toMatch(/Tagged:\s+yes/);
    expect(info).toMatch(/Title:\s+Obstetric ultrasound report - AI draft, not verified/);
    const tree = run('pdfinfo', ['-struct', file]).output;
    for (const tag of ['Document', 'H1', 'H2', 'P', 'Table', 'TR', 'TH', 'TD']) {
      expect(tree).toMatch(new RegExp(`^\\s*${tag}\\b`, 'm'));
    }
    expect(tree.match(/^\s*Figure/gm)?.length).toBeGreaterThan(1);
    expect(bytes.toString('latin1').match(/\/Alt /g)?.length).toBeGreaterThan(1);
  });

  test('has bookmarks for the impression, the measurements and the appendix', async () => {
    const bytes = (await pdf(RESULT, SUBJECT)).toString('latin1');
    expect(bytes).toContain('/Outlines');
    for (const title of ['Impression', 'Measurements', 'Signature', 'Appendix']) {
      expect(bytes).toContain(`/Title (${title})`);
    }
  });
});

test.each([
  ['Beispiel^Zoë^^Dr.', 'Beispiel, Dr. Zoë'],
  ['Yamada^Tarou=山田^太郎=やまだ^たろう', 'Yamada, Tarou'],
  ['=Ivanova^Anna', 'Ivanova, Anna'],
  ['=山田^太郎=', 'name in letters that this report cannot print'],
  ['Cohen^David=כהן^דוד=', 'Cohen, David'],
  ['محمد^فاطمة', 'name in letters that this report cannot print'],
  ['PHANTOM', 'PHANTOM'],
  ['', ''],
  ['==', ''],
])('the person name %j is shown as %j', (name, shown) => {
  expect(readableName(name)).toBe(shown);
});

test('a long name on every page leaves room for the birth date and the patient ID', () => {
  const PatientName = `Wolfeschlegelsteinhausenbergerdorff^${'Maria '.repeat(20).trim()}`;
  const line = patientLine({ identity: { ...IDENTITY, PatientName } });
  expect(line).toMatch(
    /^Wolfeschlegelsteinhausenbergerdorff, Maria .*… {2}1994-03-12 {2}PID-4711$/,
  );
  expect(patientLine({ identity: IDENTITY })).toBe('Beispiel, Dr. Zoë  1994-03-12  PID-4711');
});

describe.skipIf(!hasPoppler)('the paper of the report', () => {
  test.each([
    ['a4', '595.28 x 841.89 pts (A4)'],
    ['letter', '612 x 792 pts (letter)'],
  ] as const)('is %s on every page, with the same words', async (paper, size) => {
    const bytes = await renderReport(RESULT, SUBJECT, [], INTERGROWTH_CURVES, paper);
    const { output } = run('pdfinfo', ['-l', '99', asFile(bytes, 'pdf')]);
    const sizes = output.split('\n').filter((line) => /^Page.* size:/.test(line));
    expect(sizes.length).toBe(pages(bytes).length);
    for (const line of sizes) expect(line).toContain(size);
    expect(text(bytes)).toContain('Head circumference');
  });
});

test.skipIf(!hasPoppler)('the indication is printed at the head of the report', async () => {
  const indication = 'Growth check after reduced movements';
  expect(text(await pdf(RESULT, { ...SUBJECT, indication }))).toContain(
    `Indication: ${indication}`,
  );
  expect(text(await pdf(RESULT, SUBJECT))).not.toContain('Indication');
});

test.skipIf(!hasPoppler)(
  'values at the head of the report that come from the order are marked',
  async () => {
    const order = {
      accessionNumber: 'ACC-7',
      placerOrderNumber: '',
      requestedProcedureId: 'RP1',
      requestedProcedure: 'Growth scan',
      referringPhysicianName: 'Roe^Jane',
      joined: ['indication', 'dating', 'referringPhysicianName'],
    };
    const { identity } = SUBJECT;
    const named = identity && { ...identity, AccessionNumber: 'OWN-1', ReferringPhysicianName: '' };
    const subject = { ...SUBJECT, identity: named, indication: 'Reduced movements', order };
    const words = text(await pdf(RESULT, subject)).replace(/\s+/g, ' ');
    expect(words).toContain('Indication: Reduced movements (from the order)');
    expect(words).toContain('Roe, Jane (from the order)');
    expect(words).toContain('Growth scan');
    expect(words).toContain('OWN-1');
    expect(words).not.toContain('ACC-7');
  },
);

describe('writing all artifacts of a result', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-writer-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('creates the listed files, with their size and digest', async () => {
    const target = join(folder, 'full');
    const entries = await writeArtifacts({
      curves: INTERGROWTH_CURVES,
      result: RESULT,
      subject: ANONYMOUS,
      study: STUDY,
      folder: target,
      extra: [{ name: 'fhir-bundle.json', mediaType: 'application/fhir+json', build: () => '{}' }],
    });
    expect(entries.map(({ name, section }) => [name, section])).toEqual([
      ['overlay-biometry-1.png', 'biometry'],
      ['overlay-biometry-2.png', 'biometry'],
      ['overlay-biometry-3.png', 'biometry'],
      ['growth-chart.png', 'growth'],
      ['key-frame-1.jpg', null],
      ['key-frame-2.jpg', null],
      ['key-frame-3.jpg', null],
      ['cine-1.mjpeg', null],
      ['overlays.json', null],
      ['report.pdf', null],
      ['sr-tid1500.dcm', null],
      ['sr-tid5000.dcm', null],
      ['seg-1.dcm', null],
      ['seg-2.dcm', null],
      ['fhir-bundle.json', null],
    ]);
    for (const entry of entries) {
      expect(artifactSchema.parse(entry)).toEqual(entry);
      const bytes = await readFile(join(target, entry.name));
      expect(bytes.length).toBe(entry.bytes);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(entry.sha256);
    }
    const preview = await sharp(join(target, 'overlay-biometry-1.png')).metadata();
    expect(preview).toMatchObject({ format: 'png', width: 1024 });
    expect(decode(await readFile(join(target, 'sr-tid5000.dcm'))).header.PatientName).toEqual([]);
  });

  test('without a measurement creates documents and a frame of each clip, but neither chart nor overlay', async () => {
    const entries = await writeArtifacts({
      curves: INTERGROWTH_CURVES,
      result: NOTHING_MEASURED,
      subject: { ...ANONYMOUS, dating: null },
      study: STUDY,
      folder: join(folder, 'nothing'),
    });
    expect(entries.map(({ name }) => name)).toEqual([
      'key-frame-1.jpg',
      'key-frame-2.jpg',
      'key-frame-3.jpg',
      'overlays.json',
      'report.pdf',
      'sr-tid1500.dcm',
      'sr-tid5000.dcm',
    ]);
  });

  test('reports each artifact as soon as it is written: the previews before any document', async () => {
    const target = join(folder, 'told');
    const told: string[] = [];
    const entries = await writeArtifacts({
      curves: INTERGROWTH_CURVES,
      result: RESULT,
      subject: ANONYMOUS,
      study: STUDY,
      folder: target,
      written({ name }) {
        expect(existsSync(join(target, name))).toBe(true);
        told.push(name);
      },
    });
    const names = entries.map(({ name }) => name);
    expect(told.toSorted()).toEqual(names.toSorted());
    const previews = (of: readonly string[]) => of.filter((name) => name.startsWith('overlay-'));
    expect(previews(told)).toEqual(previews(names));
    const lastPreview = told.findLastIndex((name) => /^overlay-/.test(name));
    const firstDocument = told.findIndex((name) => /\.(pdf|dcm)$/.test(name));
    expect(lastPreview).toBeGreaterThanOrEqual(0);
    expect(lastPreview).toBeLessThan(firstDocument);
  });

  test('leaves out key frames, cines and overlays if no viewer shows them', async () => {
    const entries = await writeArtifacts({
      curves: INTERGROWTH_CURVES,
      result: RESULT,
      subject: ANONYMOUS,
      study: STUDY,
      folder: join(folder, 'no-viewer'),
      display: false,
    });
    const names = entries.map(({ name }) => name);
    expect(names.filter((name) => /^(key-frame|cine|overlays)/.test(name))).toEqual([]);
    expect(names).toContain('overlay-biometry-1.png');
  });

  test('keeps a preview that was drawn early, unless its picture has changed since', async () => {
    const target = join(folder, 'early');
    const drawn = new Map<string, string>();
    const early = { study: STUDY, folder: target, shown: createShownFrames(), drawn };
    await writeEarlyPreviews({ ...early, result: RESULT }, () => {});
    const previewOf = (number: number) => join(target, `overlay-biometry-${number}.png`);
    const marker = await readFile(previewOf(3));
    for (const number of [1, 2]) await writeFile(previewOf(number), marker);
    const doubtful = overlaysOf(RESULT.measurements)[1]?.measurements ?? [];
    await writeArtifacts({
      ...early,
      curves: INTERGROWTH_CURVES,
      result: {
        ...RESULT,
        measurements: RESULT.measurements.map((one) =>
          doubtful.includes(one) ? { ...one, quality: 'review' as const } : one,
        ),
      },
      subject: ANONYMOUS,
      display: false,
    });
    expect(await readFile(previewOf(1))).toEqual(marker);
    expect(await readFile(previewOf(2))).not.toEqual(marker);
  });

  test('can leave out previews', async () => {
    const entries = await writeArtifacts({
      curves: INTERGROWTH_CURVES,
      result: RESULT,
      subject: ANONYMOUS,
      study: STUDY,
      folder: join(folder, 'no-previews'),
      previews: false,
    });
    expect(entries.filter(({ name }) => /^(overlay|key-frame|cine)/.test(name))).toEqual([]);
  });

  test.skipIf(!hasPoppler)(
    'builds the report again for a delivery, with the identity and the stored previews',
    async () => {
      const target = join(folder, 'rebuilt');
      await writeArtifacts({
        curves: INTERGROWTH_CURVES,
        result: RESULT,
        subject: ANONYMOUS,
        study: STUDY,
        folder: target,
      });
      const path = async (name: string) => {
        const file = join(target, name);
        return (await stat(file).catch(() => null)) ? file : null;
      };
      const rebuilt = await rebuildReportPdf(RESULT, SUBJECT, INTERGROWTH_CURVES, path);
      expect(text(rebuilt)).toContain('PID-4711');
      const images = run('pdfimages', ['-list', asFile(rebuilt, 'pdf')]).output;
      expect(images.match(/ image /g)).toHaveLength(3);
      await rm(join(target, 'overlay-biometry-2.png'));
      const fewer = run('pdfimages', [
        '-list',
        asFile(await rebuildReportPdf(RESULT, SUBJECT, INTERGROWTH_CURVES, path), 'pdf'),
      ]);
      expect(fewer.output.match(/ image /g)).toHaveLength(2);
    },
  );
});
