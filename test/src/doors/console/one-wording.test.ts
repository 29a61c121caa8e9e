import type { Bundle } from '@medplum/fhirtypes';
import { describe, expect, it } from 'vitest';
import { buildAnonymousBundle } from '../../../../fhir/resources/bundle.ts';
import { renderReport } from '../../../../pipelines/artifacts/pdf/report.ts';
import { walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import { CHARTS, CONCEPTS, METHODS } from '../../../../pipelines/concepts/concepts.ts';
import { FLOWS } from '../../../../pipelines/echo/displays/flows.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { CATEGORIES } from '../../../../pipelines/result/render/categories.ts';
import { VESSELS } from '../../../../pipelines/result/render/obstetric/doppler.ts';
import { PLANE_LABELS } from '../../../../pipelines/result/render/obstetric/planes.ts';
import { limitationsOf } from '../../../../pipelines/result/render/report-lines.ts';
import type { ResultView } from '../../../../src/doors/console/result-contract.ts';
import { viewResult } from '../../../../src/doors/console/result-view.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';
import { ANONYMOUS } from '../../../pipelines/artifacts/example-subject.ts';
import { asFile, installed, run } from '../../../pipelines/artifacts/programs.ts';
import { clipOf, displayOf } from '../../../pipelines/echo/clip-sample.ts';
import { interpreted } from '../../../pipelines/echo/interpret-sample.ts';
import { measuredStudy } from '../../../pipelines/echo/measured-study.ts';
import {
  clip,
  interpretReadings,
  MEDIAN_28_WEEKS,
} from '../../../pipelines/obstetric/evidence-sample.ts';
import { shownText } from './shown-text.ts';

const HEART = measuredStudy({
  machine: {
    ...{ ivsd: 0.9, lvidd: 5, lvpwd: 0.9, lvids: 3.2, 'lvedv-biplane': 110 },
    ...{ 'lvesv-biplane': 42, 'mitral-e': 80, 'mitral-a': 60, 'e-prime-septal': 10 },
    ...{ 'e-prime-lateral': 13, 'av-vmax': 1.2, tapse: 22, 'rv-s-prime': 13, 'tr-vmax': 2.2 },
  },
}).result;
const STUDIES = [
  ['obstetric', RESULT],
  ['echo', { ...HEART, report: null }],
] as const satisfies readonly (readonly [string, Result])[];

/** Lines break differently on paper, so spaces are ignored. */
const letters = (text: string) => text.replaceAll(/\s+/g, '');

/**
 * The pages' code is type-checked with browser types (pages/tsconfig.json), which this file does
 * not have.
 */
interface StudyParts {
  summaryView(view: ResultView, rows: ResultView['measurements'], show: () => void): unknown;
}
const PARTS = new URL('../../../../src/doors/console/pages/study-parts.ts', import.meta.url).href;
const { summaryView } = (await import(PARTS)) as StudyParts;

const ofConsole = (result: Result): string => {
  const view = viewResult({
    ...{ requestId: 'req_1', result, gestationalAge: null, prior: null },
  });
  const page = shownText(summaryView(view, view.measurements, () => undefined));
  return page.replaceAll(/<li>/g, '\n').replaceAll(/<[^>]*>/g, ' ');
};

/** Returns the texts in a structured report, each with the meaning of its concept name. */
const textsOf = (document: Buffer): { name: string; text: string }[] =>
  [...walk(decode(document).root)].flatMap(({ name, value }) =>
    value.type === 'TEXT' ? [{ name: name?.meaning ?? '', text: value.text }] : [],
  );

function ofFhir(result: Result): string {
  const bundle: Bundle = buildAnonymousBundle(result, ANONYMOUS);
  const [report] = (bundle.entry ?? []).flatMap(({ resource }) =>
    resource?.resourceType === 'DiagnosticReport' ? [resource] : [],
  );
  return report?.conclusion ?? '';
}

async function ofPdf(result: Result): Promise<string> {
  const pdf = await renderReport(result, ANONYMOUS, [], []);
  return run('pdftotext', ['-l', '1', asFile(pdf, 'pdf'), '-']).output;
}

describe.each(STUDIES)('the impression of a study: %s', (_, result) => {
  // The structured report is the reference, because each line of the impression is a separate item
  // there.
  const lines = textsOf(buildTid1500(result, ANONYMOUS)).flatMap(({ name, text }) =>
    name === 'Impression' ? [text] : [],
  );

  it('states numbers', () => {
    expect(lines.join(' ')).toMatch(/\d/);
  });

  it.runIf(result === RESULT)('is in the summary of the obstetric structured report', () => {
    const texts = textsOf(buildTid5000(result, ANONYMOUS)).map(({ text }) => text);
    expect(texts.join('\n')).toContain(lines.join('\r\n'));
  });

  it.runIf(result === RESULT)('contains categories in words, not as codes', () => {
    const words = 'appropriate for gestational age (10th to 90th centile)';
    const texts = textsOf(buildTid1500(result, ANONYMOUS)).map(({ text }) => text);
    expect(texts).toContain(`Size for gestational age: ${words}`);
    const bundle = JSON.stringify(buildAnonymousBundle(result, ANONYMOUS));
    expect(bundle).toContain(`"valueCodeableConcept":{"text":"${words}"}`);
  });

  it('is the conclusion of the FHIR report', () => {
    expect(ofFhir(result)).toContain(lines.join('\n'));
  });

  it('is the impression of the study page', () => {
    expect(letters(ofConsole(result))).toContain(letters(lines.join('')));
  });

  it.skipIf(!installed('pdftotext', ['-v']))('is the impression of the PDF', async () => {
    const page = letters(await ofPdf(result));
    expect(page).toContain(letters(`Impression${lines.join('')}`));
  });
});

/** Returns a heart with an image whose view is uncertain, and a display that was not measured. */
function withUnreadImages(): Result {
  const display = { ...displayOf('lvot', 'pw'), refusal: 'no-flow' } as const;
  const named = { ...clipOf(null), belowGate: 'SUBCOSTAL-IVC', confidence: 0.4 } as const;
  const spectrum = clipOf(null, 'spectral');
  const clips = [
    clipOf('A4C'),
    named,
    { ...spectrum, clip: { ...spectrum.clip, file: display.file } },
  ];
  return interpreted({ 'lvef-biplane': 35 }, 'model', {}, { clips, spectra: [display] }).result;
}

/**
 * Returns a fetus whose heart is seen to beat on only one of two cines, with a file that could not
 * be read.
 */
function withSilentCine(): Result {
  const cines = ['object-0004.dcm', 'object-0005.dcm'].map((file) => clip(file));
  const [beats, silent] = cines;
  if (!beats || !silent) throw new Error('two cines');
  const still = beats.frames[0];
  const readings = MEDIAN_28_WEEKS();
  const frames = still ? [still, { ...still, index: 1, time: 2 }] : [];
  const refused = [{ file: 'object-0006.dcm', reason: 'no pixels' }];
  const beating = {
    status: 'beating',
    beatsPerMinute: 144,
    uncertainty: 1,
    strength: 0.9,
  } as const;
  return interpretReadings({
    readings,
    options: { report: true, dating: { ga_days: 196 } },
    evidence: {
      study: {
        clips: [...readings.map((one) => one.clip), ...cines],
        refused,
        files: 6,
        series: 1,
      },
      views: {
        presentation: {
          sweeps: [],
          cardiac: [
            { clip: beats, activity: beating },
            { clip: { ...silent, frames }, activity: { status: 'not-seen' } },
          ],
        },
      },
    },
  });
}

/** Returns every text of a result that a person reads in the console, the report and the PDF. */
function shownTexts(result: Result): string[] {
  const { sections, findings, guidance, report } = result;
  const { classifications } = viewResult({
    ...{ requestId: 'req_1', result, gestationalAge: null, prior: null },
  });
  return [
    ...sections.flatMap(({ summary, reason }) => [
      summary,
      reason?.detail ?? '',
      ...(reason?.needs ?? []),
    ]),
    ...[...findings, ...guidance].map(({ text }) => text),
    ...classifications.flatMap(({ name, value, scheme, criteria }) => [
      ...[name, value, scheme],
      ...criteria.flatMap((one) => [one.name, one.text]),
    ]),
    ...(report ? [...report.findings, ...report.impression] : []),
    ...limitationsOf(result),
  ];
}

/** Returns the texts of a FHIR resource that an EHR displays. */
function fhirTexts(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'string'
      ? ['text', 'valueString', 'conclusion'].includes(name)
        ? [part]
        : []
      : fhirTexts(part),
  );
}

/**
 * Keys of our tables that are codes rather than words: they contain a hyphen and occur in no text
 * of any table.
 */
const CODES = (() => {
  const named = Object.values(CATEGORIES).reduce((all, one) => Object.assign(all, one), {});
  const texts = { ...named, ...PLANE_LABELS, ...VESSELS, ...FLOWS };
  const tables = { ...CONCEPTS, ...METHODS, ...CHARTS };
  const said = [...Object.values(texts), JSON.stringify(Object.values(tables))].join(' ');
  const keys = [...Object.keys(texts), ...Object.keys(tables)];
  return new Set(keys.filter((key) => key.includes('-') && !said.includes(key)));
})();

/** Returns the file names and codes in a text. */
const foreignIn = (text: string): string[] => [
  ...(text.match(/\S*\.(?:dcm|jpe?g|png|mp4)\b|\bobject-\d+|\b[a-z]+_[a-z_]+\b/g) ?? []),
  ...(text.match(/[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+/g) ?? []).filter((word) => CODES.has(word)),
];

describe.each([
  ['a growth scan', () => RESULT],
  ['a heart', () => HEART],
  ['a heart with images that were not measured', withUnreadImages],
  ['a fetus with a cine without a beat', withSilentCine],
] as const)('the texts of %s', (_, resultOf) => {
  const result = resultOf();

  it('contain neither file names nor codes, in result, SR and FHIR', () => {
    const sr = textsOf(buildTid1500(result, ANONYMOUS)).map(({ text }) => text);
    const ehr = fhirTexts(buildAnonymousBundle(result, ANONYMOUS));
    const texts = [...shownTexts(result), ...sr, ...ehr];
    expect(texts.length).toBeGreaterThan(20);
    expect(texts.filter((text) => foreignIn(text).length > 0)).toEqual([]);
  });
});

it.each(['size: lga-severe', 'object-0012.dcm was not read', 'not_assessed'])(
  'a code or file name is found in "%s"',
  (text) => {
    expect(foreignIn(text)).not.toEqual([]);
  },
);
