import { describe, expect, it } from 'vitest';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../pipelines/artifacts/sr/tid5000.ts';
import { buildTid5200 } from '../../../pipelines/artifacts/sr/tid5200.ts';
import { buildTid5300 } from '../../../pipelines/artifacts/sr/tid5300.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { conclusionLines } from '../../../pipelines/result/render/conclusion.ts';
import { writeReport } from '../../../pipelines/result/render/obstetric/report.ts';
import { viewResult } from '../../../src/doors/console/result-view.ts';
import { ECHO } from './example-echo.ts';
import { RESULT } from './example-result.ts';
import { SUBJECT } from './example-subject.ts';

const NOTICE = 'Research setting: values validated on simulated images are accepted';

const accepting = (result: Result, accepts: Result['evidence_accepted']): Result => ({
  ...result,
  evidence_accepted: accepts,
});

/** What each form of a result says, as one text. */
const FORMS: Readonly<Record<string, (accepts: Result['evidence_accepted']) => string>> = {
  'the text of FHIR and HL7': (accepts) => conclusionLines(accepting(RESULT, accepts)).join('\n'),
  'the draft report': (accepts) => JSON.stringify(writeReport(accepting(RESULT, accepts))),
  'the console': (accepts) =>
    viewResult({
      requestId: 'req_1',
      result: accepting(RESULT, accepts),
      gestationalAge: null,
      prior: null,
    }).researchNotice ?? '',
  'TID 1500': (accepts) => JSON.stringify(decode(buildTid1500(accepting(ECHO, accepts), SUBJECT))),
  'TID 5000': (accepts) =>
    JSON.stringify(decode(buildTid5000(accepting(RESULT, accepts), SUBJECT))),
};

/** Templates without a place for a sentence. */
const WITHOUT_TEXT = {
  'TID 5200': (result: Result) => buildTid5200(result, SUBJECT),
  'TID 5300': (result: Result) => buildTid5300(result, SUBJECT),
} as const;

describe('the research setting, in which methods validated on simulated images are accepted', () => {
  it.each(Object.entries(FORMS))('is stated in %s, and only if it is used', (_form, textOf) => {
    expect(textOf('simulated')).toContain(NOTICE);
    expect(textOf('real')).not.toContain(NOTICE);
  });
  it.each(Object.entries(WITHOUT_TEXT))('is stated in the series of %s', (_form, build) => {
    const seriesOf = (accepts: Result['evidence_accepted']) =>
      decode(build(accepting(ECHO, accepts))).header.SeriesDescription;
    expect(seriesOf('simulated')).toBe('AI draft, research setting: us/echo/interpret 1.0.0');
    expect(seriesOf('real')).toBe('AI draft: us/echo/interpret 1.0.0');
  });
});
