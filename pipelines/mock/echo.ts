import { toPng } from '../artifacts/drawing/draw.ts';
import { type Drawing, disc } from '../artifacts/drawing/drawing.ts';
import { closeDocument, heading, openDocument, paragraph } from '../artifacts/pdf/page.ts';
import type { Job } from '../contract/job.ts';
import { echoEndpoint } from '../echo/endpoint.ts';
import { assembleResult } from '../result/assemble.ts';
import type { Result } from '../result/envelope.ts';
import { SHARED_SENTENCES, sayOfRun } from '../result/render/shared.ts';
import { notAssessed, type SectionOutcome } from '../result/section-outcome.ts';
import { MOCK } from './watermark.ts';

interface MockArtifact {
  name: string;
  mediaType: string;
  section: string | null;
  bytes: Buffer;
}

/** Three empty rings: the shape of a bull's-eye without values. */
const BULLSEYE: Drawing = {
  width: 400,
  height: 400,
  marks: [180, 120, 60].map((radius, ring) =>
    disc({ x: 200, y: 200 }, radius, ring % 2 === 0 ? '#d8dde3' : '#eef1f4'),
  ),
};

const OVERVIEW: Drawing = { width: 800, height: 300, marks: [] };

function report(result: Result): Promise<Buffer> {
  const page = openDocument(`${MOCK} echocardiography report`, new Date(result.generated_at));
  paragraph(page, `${MOCK} echocardiography report`, { size: 17, bold: true });
  for (const { text } of result.findings) paragraph(page, text, { bold: true });
  heading(page, 'Sections');
  for (const { title, summary } of result.sections) paragraph(page, `${title}. ${summary}`);
  return closeDocument(page, MOCK);
}

/** The pictures and the report of a mock echo result, under the names of the HTTP contract. */
export async function echoArtifacts(result: Result): Promise<MockArtifact[]> {
  return [
    {
      name: 'view-overview.png',
      mediaType: 'image/png',
      section: 'views',
      bytes: await toPng(OVERVIEW, 1),
    },
    {
      name: 'bullseye.png',
      mediaType: 'image/png',
      section: 'lv-strain',
      bytes: await toPng(BULLSEYE, 1),
    },
    {
      name: 'report.pdf',
      mediaType: 'application/pdf',
      section: null,
      bytes: await report(result),
    },
  ];
}

const DETAIL = SHARED_SENTENCES['run.mock']();

const REPORT: NonNullable<Result['report']> = {
  language: 'en',
  title: 'Echocardiography: draft report',
  findings: ['Nothing was assessed.'],
  impression: ['No conclusion can be drawn from what was assessed.'],
  limitations: [DETAIL],
};

function outcomeOf(id: string, withReport: boolean): SectionOutcome {
  if (id !== 'report') return notAssessed('not_in_this_version', sayOfRun.gap('run.mock', {}), []);
  if (withReport) return { status: 'complete', reason: null, statements: [] };
  const gap = sayOfRun.gap('report.not-requested', {});
  return { ...notAssessed('not_requested', gap, ['options.report']), status: 'not_requested' };
}

/** The envelope with every section of the endpoint listed, and none assessed. */
export function mockEcho(job: Job, generatedAt: Date): Result {
  const { report: withReport } = echoEndpoint.input.shape.options.unwrap().parse(job.options);
  const result = assembleResult({
    endpoint: echoEndpoint.id,
    version: echoEndpoint.version,
    generatedAt,
    models: [],
    study: { clips: [], refused: [], files: job.files.length, series: 0 },
    refusedFrames: [],
    priors: job.priorFiles.length,
    sections: echoEndpoint.sections.map(({ id, title }) => ({
      id,
      title,
      outcome: outcomeOf(id, withReport),
    })),
    measurements: [],
  });
  return { ...result, report: withReport ? REPORT : null };
}
