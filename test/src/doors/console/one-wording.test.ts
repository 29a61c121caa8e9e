import type { Bundle } from '@medplum/fhirtypes';
import { describe, expect, it } from 'vitest';
import { buildAnonymousBundle } from '../../../../fhir/resources/bundle.ts';
import { renderReport } from '../../../../pipelines/artifacts/pdf/report.ts';
import { walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { RESULT_WORDING } from '../../../../src/app/wiring/console.ts';
import type { ResultView } from '../../../../src/doors/console/result-contract.ts';
import { viewResult } from '../../../../src/doors/console/result-view.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';
import { ANONYMOUS } from '../../../pipelines/artifacts/example-subject.ts';
import { asFile, installed, run } from '../../../pipelines/artifacts/programs.ts';
import { measuredStudy } from '../../../pipelines/echo/measured-study.ts';

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

/** Text of a template of the console as a browser shows it: no tags, one space between words. */
function shownText(template: unknown): string {
  if (Array.isArray(template)) return template.map(shownText).join('');
  if (typeof template === 'string' || typeof template === 'number') return `${template}`;
  if (typeof template !== 'object' || template === null || !('strings' in template)) return '';
  const { strings, values } = template as unknown as { strings: string[]; values: unknown[] };
  return strings.map((text, at) => `${text}${shownText(values[at])}`).join('');
}

/** Lines are broken differently on paper, so that spaces do not count. */
const letters = (text: string) => text.replaceAll(/\s+/g, '');

/** Code of the pages is checked with the types of a browser (pages/tsconfig.json), not with these. */
interface StudyParts {
  summaryView(view: ResultView, rows: ResultView['measurements'], show: () => void): unknown;
}
const PARTS = new URL('../../../../src/doors/console/pages/study-parts.ts', import.meta.url).href;
const { summaryView } = (await import(PARTS)) as StudyParts;

const ofConsole = (result: Result): string => {
  const view = viewResult({
    ...{ requestId: 'req_1', result, gestationalAge: null, prior: null },
    wording: RESULT_WORDING,
  });
  const page = shownText(summaryView(view, view.measurements, () => undefined));
  return page.replaceAll(/<li>/g, '\n').replaceAll(/<[^>]*>/g, ' ');
};

/** The texts of a structured report, with the meaning of their names. */
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
  // The lines of the structured report are the measure: each is an item there.
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

  it('is the conclusion of the FHIR report', () => {
    expect(ofFhir(result)).toContain(lines.join(' '));
  });

  it('is the impression of the study page', () => {
    expect(letters(ofConsole(result))).toContain(letters(lines.join('')));
  });

  it.skipIf(!installed('pdftotext', ['-v']))('is the impression of the PDF', async () => {
    const page = letters(await ofPdf(result));
    expect(page).toContain(letters(`Impression${lines.join('')}`));
  });
});
