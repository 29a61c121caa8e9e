import sharp from 'sharp';
import { textPath, textWidth } from '../artifacts/drawing/draw.ts';
import { ANONYMOUS } from '../artifacts/modules.ts';
import type { DicomIdentity } from '../dicom/subject.ts';
import type { Finding, Result } from '../result/envelope.ts';

export const MOCK = 'MOCK';

/** Text that marks every document containing findings as a mock. */
const NOTICE = 'Made up by the mock backend: no image was read and nobody was examined.';

const marked = (text: string): string => `${MOCK}: ${text}`;

const MOCK_MODEL: Result['models'][number] = {
  id: 'mock',
  version: '1.0.0',
  sha256: '0'.repeat(64),
  licence: 'none',
  pack: 'permissive',
  provider: 'mock',
};

/** Replaces the patient's identity on every page and in every header. */
export const MOCK_IDENTITY: DicomIdentity = {
  ...ANONYMOUS,
  SpecificCharacterSet: 'ISO_IR 192',
  PatientName: 'MOCK^NOBODY',
  PatientID: MOCK,
  StudyID: MOCK,
  StudyDescription: marked('not an examination'),
};

/**
 * Returns the result with a mark on every section, finding, value and line of the report, and with
 * the model `mock` in place of the real models.
 */
export function watermarked(result: Result): Result {
  const section = result.sections[0]?.id ?? 'report';
  const notice: Finding = {
    id: 'mock',
    section,
    concept: null,
    text: marked(NOTICE),
    severity: 'abnormal',
    confidence: null,
    evidence: [],
  };
  const { report } = result;
  return {
    ...result,
    models: [MOCK_MODEL],
    sections: result.sections.map((each) => ({
      ...each,
      summary: marked(each.summary),
      reason: each.reason && { ...each.reason, detail: marked(each.reason.detail) },
    })),
    findings: [notice, ...result.findings.map((each) => ({ ...each, text: marked(each.text) }))],
    measurements: result.measurements.map((each) => ({
      ...each,
      note: marked([each.note, 'measured on no image'].filter(Boolean).join('; ')),
    })),
    guidance: result.guidance.map((each) => ({ ...each, text: marked(each.text) })),
    report: report && {
      ...report,
      title: marked(report.title),
      findings: report.findings.map(marked),
      impression: [marked(NOTICE), ...report.impression.map(marked)],
      limitations: report.limitations.map(marked),
    },
  };
}

/** Returns the picture with MOCK written across it. */
export async function stamped(png: Buffer): Promise<Buffer> {
  const { width = 1, height = 1 } = await sharp(png).metadata();
  const size = Math.min(height / 2, width / textWidth(MOCK, 1, 'bold')) * 0.9;
  const x = (width - textWidth(MOCK, size, 'bold')) / 2;
  const path = textPath(MOCK, x, (height + size * 0.7) / 2, size, 'bold');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><path d="${path}" fill="#b3261e" fill-opacity="0.35"/></svg>`;
  return sharp(png)
    .composite([{ input: Buffer.from(svg) }])
    .png()
    .toBuffer();
}
