import type { Job } from '../contract/job.ts';
import { echoEndpoint } from '../echo/endpoint.ts';
import { assembleResult } from '../result/assemble.ts';
import type { Result } from '../result/envelope.ts';

const DETAIL = 'The mock backend looks at no image of the heart.';

const REPORT: NonNullable<Result['report']> = {
  language: 'en',
  title: 'Echocardiography: draft report',
  findings: ['Nothing was assessed.'],
  impression: ['No conclusion can be drawn from what was assessed.'],
  limitations: [DETAIL],
};

type Section = Result['sections'][number];

function section(
  { id, title }: (typeof echoEndpoint.sections)[number],
  withReport: boolean,
): Section {
  const base = { id, title, data: {}, artifacts: [] };
  if (id !== 'report') {
    const reason = { code: 'not_in_this_version', detail: DETAIL, needs: [] };
    return { ...base, status: 'not_assessed', reason, summary: DETAIL };
  }
  if (withReport) {
    return { ...base, status: 'complete', reason: null, summary: REPORT.impression.join(' ') };
  }
  const detail = 'The draft report was not requested.';
  const reason = { code: 'not_requested', detail, needs: ['options.report'] };
  return { ...base, status: 'not_requested', reason, summary: detail };
}

/** The envelope with every section of the endpoint listed, and none assessed. */
export function mockEcho(job: Job, generatedAt: Date): Result {
  const { report: withReport } = echoEndpoint.input.shape.options.unwrap().parse(job.options);
  return assembleResult({
    endpoint: echoEndpoint.id,
    version: echoEndpoint.version,
    generatedAt,
    models: [],
    study: { clips: [], refused: [], files: job.files.length, series: 0 },
    refusedFrames: [],
    priors: job.priorFiles.length,
    sections: echoEndpoint.sections.map((each) => section(each, withReport)),
    findings: [],
    measurements: [],
    classifications: [],
    guidance: [],
    report: withReport ? REPORT : null,
  });
}
